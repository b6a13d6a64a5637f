import type { Random } from '../../base/random/random.ts'
import { readSpan } from '../../base/observability/span.ts'

/** Eight hexadecimal digits. */
const word = (random: Random): string => (2 ** 32 + random.below(2 ** 32)).toString(16).slice(1)

/** The trace that the client sent, or a new one (W3C Trace Context). */
export function traceparentOf(sent: string | undefined, random: Random): string {
  if (sent !== undefined && readSpan(sent) !== undefined) return sent
  const trace = word(random) + word(random) + word(random) + word(random)
  return `00-${trace}-${word(random)}${word(random)}-01`
}
