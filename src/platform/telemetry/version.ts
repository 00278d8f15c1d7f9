import build from "../../../package.json" with { type: "json" };

/** The version of this build, as `gateway --version`, `/healthz` and `/metrics` tell it. */
export const VERSION = build.version;
