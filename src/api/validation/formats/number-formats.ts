// Formats of numbers with a check digit: books and credit cards. Separators are ignored.

const digitsOf = (text: string): number[] => Array.from(text, Number)
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

const withoutSeparators = (text: string): string => text.replaceAll(/[\t\n\f\r -]/g, '')

export function isIsbn10(text: string): boolean {
  const bare = withoutSeparators(text)
  if (!/^\d{9}[\dX]$/.test(bare)) return false
  const weighted = digitsOf(bare.replace('X', '')).map((digit, index) => digit * (index + 1))
  return sum(bare.endsWith('X') ? [...weighted, 100] : weighted) % 11 === 0
}

export function isIsbn13(text: string): boolean {
  const bare = withoutSeparators(text)
  return (
    /^\d{13}$/.test(bare) && sum(digitsOf(bare).map((digit, index) => digit * (index % 2 === 0 ? 1 : 3))) % 10 === 0
  )
}

const cardNumber =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/

/** Numbers of the large issuers, by their prefixes. Everything but digits is ignored. */
export function isCreditCard(text: string): boolean {
  const digits = text.replaceAll(/\D/g, '')
  if (!cardNumber.test(digits)) return false
  const fromEnd = digitsOf(digits).toReversed()
  return (
    sum(fromEnd.map((digit, index) => (index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2))) % 10 === 0
  )
}
