/**
 * `newKey`: a name for one write, so that a repetition of it is not a second one.
 */

/** Made by hand: `crypto.randomUUID` is missing on a page that comes over plain HTTP from another machine. */
export function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
