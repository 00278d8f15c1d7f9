var e=document.querySelector(".side [aria-current]"),t=e?.closest(".side");e&&t&&t.scrollWidth>t.clientWidth&&(t.scrollLeft=e.offsetLeft-t.offsetLeft-(t.clientWidth-e.offsetWidth)/2);
