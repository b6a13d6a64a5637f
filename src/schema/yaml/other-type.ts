// isOtherType: whether a parser of YAML 1.1 reads a plain text as something else than a text: a number, a truth value, a
// time or null. Such a text is quoted.

export function isOtherType(text: string): boolean {
  const first = text.slice(0, 1)
  if (first !== '' && !/[-+\d.yYnNtTfFoO~]/.test(first)) return false
  return isWord(text) || isTime(text) || isNumber(text) || sexagesimal.test(text)
}

const word =
  /^(?:|~|null|Null|NULL|[yYnN]|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
const isWord = (text: string): boolean => word.test(text)

const float = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/
const prefixed = /^([-+]?)(0[xX][\da-fA-F]+|0[oO][0-7]+|0[bB][01]+)$/

/** Underscores may separate digits. A number that does not fit into 64 bits is a text. */
function isNumber(text: string): boolean {
  if (text.startsWith('.')) return float.test(text) && Number.isFinite(Number(text))
  const digits = text.replaceAll('_', '')
  if (float.test(digits)) return Number.isFinite(Number(digits))
  const [, sign = '', magnitude = ''] = prefixed.exec(digits) ?? []
  return magnitude !== '' && isInRange(sign, magnitude)
}

/** Binary numbers have the most digits. */
const significantDigitsMax = 64

function isInRange(sign: string, magnitude: string): boolean {
  const significant = magnitude.slice(2).replace(/^0+/, '')
  if (significant.length > significantDigitsMax) return false
  const value = BigInt(`${magnitude.slice(0, 2).toLowerCase()}${significant || '0'}`)
  if (sign === '-') return value <= 2n ** 63n
  return value < 2n ** (sign === '+' ? 63n : 64n)
}

/** Numbers with the base 60, such as 12:30:45, which only some parsers know. */
const sexagesimal = /^[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?$/

const clock = String.raw`(\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?`
const time = new RegExp(String.raw`^(\d{4})-(\d\d?)-(\d\d?)(?:[Tt]${clock}(?:Z|[-+]\d\d:\d\d)| ${clock})?$`)

function isTime(text: string): boolean {
  const [, year = '', month = '', day = '', ...clocks] = time.exec(text) ?? []
  if (year === '' || Number(month) < 1 || Number(month) > 12) return false
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
  const [hour = 0, minute = 0, second = 0] = clocks.filter((part) => part !== undefined).map(Number)
  return Number(day) >= 1 && Number(day) <= days && hour < 24 && minute < 60 && second < 60
}
