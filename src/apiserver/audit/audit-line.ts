// auditLine: an event as a line of JSON. An event that is too long is truncated: its objects are removed and an annotation is
// added.
import { without } from '../../schema/json/json-value.ts'
import type { AuditEvent } from './audit-record.ts'
import { jsonText } from '../../schema/json/exact-json.ts'

const truncatedAnnotation = 'audit.k8s.io/truncated'

/** Undefined if the truncated event is longer than `bytesMax` too. */
export function auditLine(event: AuditEvent, bytesMax = Infinity): string | undefined {
  const line = jsonText(event)
  if (bytesOf(line, bytesMax) <= bytesMax) return line
  const annotations = { ...(event['annotations'] as object | undefined), [truncatedAnnotation]: 'true' }
  const short = jsonText({ ...without(without(event, 'requestObject'), 'responseObject'), annotations })
  return bytesOf(short, bytesMax) <= bytesMax ? short : undefined
}

/** The exact length is computed only if it can exceed the limit. */
const bytesOf = (text: string, bytesMax: number): number =>
  text.length * 3 <= bytesMax ? text.length : new TextEncoder().encode(text).length
