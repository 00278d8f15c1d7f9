import { planError, planWhole, type ResponsePlan } from "../plan_response.ts";
import { WireError } from "../wire_error.ts";
import type { SimulatedJob } from "./job.ts";
import { MIME_TYPES } from "./render.ts";

/** The metadata service of cloud machines: the gateway must never fetch it. */
export const PRIVATE_ADDRESS = "http://169.254.169.254/latest/meta-data/";
const CHUNK_BYTES = 1024 * 1024;
const SLOW_CHUNKS = 8;
const SLOW_MS = 100;

/** The response to a download, with the fault that the directive `output` names. */
export function planOutput(bytes: Uint8Array<ArrayBuffer>, job: SimulatedJob): ResponsePlan {
  const type = MIME_TYPES[job.type];
  switch (job.directives.output) {
    case "garbage":
      return planWhole(bytes.map((byte) => byte ^ 0xa5), {}, { type });
    case "empty":
      return planWhole("", {}, { type });
    case "wrong_type":
      return planWhole("<!doctype html><script>alert(1)</script>", {}, { type });
    case "too_large": {
      const more = { bytes: new Uint8Array(CHUNK_BYTES), pauseMs: 1 };
      return { ...planWhole(bytes, {}, { type }), ending: { again: [more] }, isTimed: true };
    }
    case "cut":
      return planWhole(bytes, { cut: 1 }, { type });
    case "hang":
      return planWhole(bytes, { hang: 1 }, { type });
    case "slow": {
      const size = Math.ceil(bytes.length / SLOW_CHUNKS);
      const parts = Array.from({ length: SLOW_CHUNKS }, (_, at) => ({
        bytes: bytes.subarray(at * size, (at + 1) * size),
        pauseMs: SLOW_MS,
      }));
      return { ...planWhole(bytes, {}, { type }), parts, isTimed: true };
    }
    case "missing":
      return planError(new WireError(404, "The file has expired.", null, "file_not_found"));
    case "redirect":
      return planWhole("", {}, { type, status: 302, headers: { location: PRIVATE_ADDRESS } });
    default:
      return planWhole(bytes, {}, { type });
  }
}
