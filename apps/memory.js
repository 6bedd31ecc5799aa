// Keeps the questions asked so far in this browser, lets the arrow keys walk them in the question's field, and tells of
// Back and Forward. Focus stays where one types, and one key leads to the question.
const FIELD = ".st-key-asking input";
const TABLET = 1024; // CSS pixels; below it the side bar is folded away

// Another page has no question; to its content Streamlit has a link.
function skip(words) {
  const field = document.querySelector(FIELD);
  const link = document.querySelector("#kgqa-skip") || document.createElement("a");
  if (!field) return link.remove();
  link.href = `#${field.id}`;
  if (link.isConnected) return;
  link.id = "kgqa-skip";
  link.textContent = words;
  link.onclick = (event) => {
    event.preventDefault();
    document.querySelector(FIELD)?.focus();
  };
  document.body.prepend(link);
}

export default function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const kept = "kgqa.history";

  function read() {
    try {
      return window.localStorage.getItem(kept) || "[]";
    } catch {
      return "[]"; // a browser may forbid it
    }
  }

  if (!data.restored && read() !== "[]") {
    setStateValue("stored", read()); // the page runs again, which a newcomer need not wait for
  } else {
    try {
      window.localStorage.setItem(kept, data.history);
    } catch {
      // full, or forbidden: the history then ends with the session
    }
  }

  document.documentElement.lang = data.lang;
  const link = document.querySelector("#kgqa-skip");
  if (link?.textContent !== data.skip) link?.remove(); // here, not where it is watched: two languages would alternate
  if (window.innerWidth < TABLET && !window.kgqaFolded)
    document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click();
  window.kgqaFolded = true;

  // Language and own graph stay in the address on every page, for a reload, and Back meets no entry of the same page
  function address() {
    const at = new URL(window.location.href);
    const put = (name, value) => (value ? at.searchParams.set(name, value) : at.searchParams.delete(name));
    put("kept", at.searchParams.has("g") ? "" : data.kept);
    if (at.pathname !== window.kgqaPath) put("lang", data.lang === "en" ? "" : data.lang);
    window.kgqaPath = at.pathname;
    if (at.href !== window.location.href) window.history.replaceState(window.history.state, "", at);
  }

  function walk(event) {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (!event.target.closest?.(FIELD)) return;
    event.preventDefault();
    setTriggerValue("walk", step);
  }

  function went() {
    if (window.location.pathname !== window.kgqaPath) return; // to another page Streamlit goes itself
    setTriggerValue("went", window.location.search || "?");
  }

  // Streamlit recolours its own parts at once; the page's are recoloured when it runs again
  const recolour = (event) => setTimeout(() => setTriggerValue("scheme", event.matches ? "dark" : "light"));

  let typing = false; // whether the question's field had the focus until the page was drawn anew
  const focused = (event) => (typing = event.target.matches?.(FIELD) ?? false);
  const clicked = (event) => (typing = typing && Boolean(event.target.closest?.(".st-key-asking")));
  const drawn = () => {
    address();
    skip(data.skip);
    for (const place of document.querySelectorAll("[data-testid=stFileUploaderDropzone][role=presentation]"))
      place.setAttribute("role", "group"); // it has a name, which what is only presented has not
    document.querySelector("#vg-tooltip-element")?.setAttribute("role", "status"); // what a chart is pointed at for
    const field = document.querySelector(FIELD);
    if (typing && field && document.activeElement === document.body) field.focus();
  };
  drawn();
  const watcher = new MutationObserver(drawn);
  watcher.observe(document.body, { childList: true, subtree: true });
  const listened = [
    [document, "keydown", walk],
    [window, "popstate", went],
    [document, "focusin", focused],
    [document, "pointerdown", clicked],
    [window.matchMedia("(prefers-color-scheme: dark)"), "change", recolour],
  ];
  for (const [on, name, act] of listened) on.addEventListener(name, act);
  return () => {
    watcher.disconnect();
    for (const [on, name, act] of listened) on.removeEventListener(name, act);
  };
}
