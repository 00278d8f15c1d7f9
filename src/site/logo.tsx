/** The logo: a gate with its bar raised. */
export function Logo({ size = 26 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" fill="none" aria-hidden="true">
      <path d="M7 28V13" stroke="currentColor" stroke-width="4" stroke-linecap="round" />
      <path d="M7 17.5 26 6" stroke="currentColor" stroke-width="4" stroke-linecap="round" />
      <path d="M3.5 28h7" stroke="currentColor" stroke-width="3" stroke-linecap="round" />
      <circle cx="25" cy="25" r="3" fill="currentColor" opacity=".45" />
      <circle cx="17" cy="25" r="2" fill="currentColor" opacity=".3" />
    </svg>
  );
}

/** The logo for browser tabs, on its own background: tabs may be light or dark. */
export const FAVICON =
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#fff" stroke-linecap="round"><rect width="32" height="32" rx="7" fill="#0c6b4b"/><path d="M9.5 25V14.5" stroke-width="3.6"/><path d="M9.5 17.5 23.5 9" stroke-width="3.6"/><path d="M6.8 25h5.4" stroke-width="2.6"/><circle cx="22.5" cy="23" r="2.4" fill="#fff" stroke="none" opacity=".7"/></svg>`;
