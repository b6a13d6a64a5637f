import { readSpan } from '../../api/coxswain/v1/flow-protocol.ts'
import type { Random } from '../../base/random/random.ts'

const digits = (random: Random, words: number): string =>
  Array.from({ length: words }, () =>
    random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('')

/** The trace that the client sent, or a new one (W3C Trace Context). */
export const traceparentOf = (sent: string | undefined, random: Random): string =>
  readSpan(sent) === undefined || sent === undefined ? `00-${digits(random, 4)}-${digits(random, 2)}-01` : sent
