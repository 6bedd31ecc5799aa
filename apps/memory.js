// Keeps the questions asked so far in this browser, and lets the arrow keys walk them in the question's field.
export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const kept = "kgqa.history";

  function read() {
    try {
      return window.localStorage.getItem(kept) || "[]";
    } catch {
      return "[]"; // a browser may forbid it
    }
  }

  if (!data.restored) {
    setStateValue("stored", read());
  } else {
    try {
      window.localStorage.setItem(kept, data.history);
    } catch {
      // full, or forbidden: the history then ends with the session
    }
  }

  function walk(event) {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!event.target.closest?.(".st-key-asking input")) return;
    event.preventDefault();
    setTriggerValue("walk", step);
  }

  document.addEventListener("keydown", walk);
  return () => document.removeEventListener("keydown", walk);
}
