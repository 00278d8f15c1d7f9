/** Whether a date exists and every part of the system can write it: of the years 1 to 9999. */
export function isStorableDate(date: Date): boolean {
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9999;
}
