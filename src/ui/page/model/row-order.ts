// The order of texts in a list.

/** Numbers at the start of both texts are compared as numbers: `3 (5m ago)` is less than `12`. */
export function compareTexts(a: string, b: string): number {
  const x = leadingNumber.exec(a)
  const y = leadingNumber.exec(b)
  const difference = x === null || y === null ? 0 : Number(x[0]) - Number(y[0])
  return difference || (a < b ? -1 : a > b ? 1 : 0)
}
const leadingNumber = /^\d{1,15}(?![\d-])/
