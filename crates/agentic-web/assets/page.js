// The script of all pages. Without it everything can be read and every form sent.
"use strict";

// A login's code stands behind `#`, where no server and no log sees it.
const login = document.getElementById("login");
if (login && location.hash.length > 1) {
  document.getElementById("code").value = location.hash.slice(1);
  history.replaceState(null, "", "/login");
  login.submit();
}
