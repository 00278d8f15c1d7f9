import type { Endpoint } from "../exchange.ts";

const HEADERS = {
  "content-type": "image/svg+xml; charset=utf-8",
  "cache-control": "public, max-age=86400",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
};

/**
 * GET /logos/{logo}: the initials of a model's id on a colour of its own. Any id has one: the answer does not tell
 * which models exist.
 */
export function retrieveLogo(): Endpoint {
  return function retrieveLogo(c) {
    const id = (c.req.param("logo") ?? "").replace(/\.svg$/, "");
    return new Response(drawLogo(id), { headers: HEADERS });
  };
}

function drawLogo(id: string): string {
  return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img">' +
    `<rect width="64" height="64" rx="14" fill="hsl(${hueOf(id)} 55% 42%)"/>` +
    '<text x="32" y="42" font-family="system-ui, sans-serif" font-size="28" font-weight="600" fill="#fff" ' +
    `text-anchor="middle">${initialsOf(id)}</text></svg>\n`;
}

/** Letters and digits only: nothing of the address becomes markup. */
function initialsOf(id: string): string {
  const words = id.match(/[A-Za-z0-9]+/g) ?? [];
  return words.slice(0, 2).map((word) => word[0]!.toUpperCase()).join("");
}

function hueOf(id: string): number {
  let hash = 0;
  for (const character of id) hash = (hash * 31 + character.codePointAt(0)!) % 360;
  return hash;
}
