// Before anything is drawn: what is only needed without scripts need not be shown.
document.documentElement.classList.add("scripted");
