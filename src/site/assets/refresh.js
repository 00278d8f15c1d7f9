setTimeout(()=>location.reload(),900);
