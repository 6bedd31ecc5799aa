# make demo : install what is needed into .venv and open the app      make test : lint, types and tests
# make docs : the documentation site (docs/, the other documents and the docstrings), in build/docs
# make audit : a bill of what is installed (CycloneDX), and what is publicly known against it, which needs the network
# make wheel : build both wheels, the library and kgqa-base, install them into an environment of their own and ask each reader
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
export OMP_WAIT_POLICY = passive
.PHONY: demo test lint types tests docs wheel audit bench clean

demo: $(VENV)/.app
	$(BIN)/kgqa app

test: lint types tests

types: $(VENV)/.dev
	$(BIN)/mypy

# Files go to the workers in the order of tests/conftest.py.
tests: $(VENV)/.dev
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

# Nothing is downloaded: the new environment sees the packages of the old one, but not the checkout.
wheel: $(VENV)/.dev
	rm -rf build/bdist* build/dist build/lib build/venv
	$(BIN)/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir build/dist . ./training/models
	$(BIN)/python -m venv build/venv
	$(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))" \
	  > "$$(build/venv/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")/packages.pth"
	build/venv/bin/pip uninstall --quiet --yes setuptools  # the old environment's is newer
	build/venv/bin/pip install --quiet --no-deps --no-index --ignore-installed build/dist/kgqa-*.whl
	cd build/dist && XDG_CACHE_HOME="$$PWD/cache" ../venv/bin/python -P $(CURDIR)/tests/support/ask_the_wheel.py kgqa-small
	build/venv/bin/pip install --quiet --no-index --find-links build/dist 'kgqa[base]'
	cd build/dist && XDG_CACHE_HOME="$$PWD/cache" ../venv/bin/python -P $(CURDIR)/tests/support/ask_the_wheel.py kgqa-base

audit: $(VENV)/.dev
	$(PYTHON) -m venv build/audit
	build/audit/bin/pip install --quiet cyclonedx-bom pip-audit
	build/audit/bin/cyclonedx-py environment --output-reproducible --output-format JSON --output-file build/sbom.json $(BIN)/python
	build/audit/bin/pip-audit --no-deps --disable-pip --requirement constraints.txt

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
	$(BIN)/pip install --quiet -c constraints.txt -e '.[app,ko,ja]'
	touch $@

$(VENV)/.dev: $(VENV)/.torch pyproject.toml
	$(BIN)/pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
