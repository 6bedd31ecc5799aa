# make demo : install what is needed and open the app      make test : lint, types and tests
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
export OMP_WAIT_POLICY = passive
.PHONY: demo test lint bench clean

demo: $(VENV)/.app
	$(BIN)/kgqa app

test: $(VENV)/.dev lint
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

lint: $(VENV)/.dev
	$(BIN)/ruff check .

bench: $(VENV)/.dev
	for file in training/bench/*.py; do $(BIN)/python $$file || exit 1; done

# Without a GPU the CPU wheel is tried first; where that index is out of reach the ordinary one serves.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -m venv $(VENV)
	command -v nvidia-smi >/dev/null 2>&1 || $(BIN)/pip install --quiet --retries 0 --timeout 15 \
	  --index-url https://download.pytorch.org/whl/cpu torch==2.13.0 2>/dev/null \
	  || $(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/pip install --quiet torch==2.13.0
	touch $@

$(VENV)/.app: $(VENV)/.torch pyproject.toml
	$(BIN)/pip install --quiet -c constraints.txt -e '.[app]'
	touch $@

$(VENV)/.dev: $(VENV)/.torch pyproject.toml
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
