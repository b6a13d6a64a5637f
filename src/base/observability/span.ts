// Spans: the names of flow events outside of their process, in the form of W3C's Trace Context.
import type { Brand } from '../brand.ts'
import { ownText } from '../text/own-text.ts'

/** Identifies an event in the record of another process: the record's name and the event's position. */
export type Span = Brand<string, 'Span'>

/** The number of random bytes in the name of a process's record, a trace id in hexadecimal. */
export const recordNameBytes = 16

const positionDigits = 16
const positionStart = '00-'.length + recordNameBytes * 2 + 1

export const spanOf = (record: string, position: number): Span =>
  `00-${record}-${position.toString(16).padStart(positionDigits, '0')}-01` as Span

/** The span of an event that was recorded so many events later. */
export const spanAfter = (span: Span, events: number): Span =>
  spanOf(
    span.slice('00-'.length, positionStart - 1),
    Number.parseInt(span.slice(positionStart, positionStart + positionDigits), 16) + events,
  )

/** The span that a header or a body contains; undefined when it is invalid. */
export const readSpan = (text: unknown): Span | undefined =>
  typeof text === 'string' && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(text)
    ? (ownText(`${text.slice(0, -2)}01`) as Span)
    : undefined
