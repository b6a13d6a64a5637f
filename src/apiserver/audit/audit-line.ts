// auditLine: an event as a line of JSON. One that is too long loses its objects, and says so; one that is too long even
// then is lost.
import { without } from '../../schema/json/json-value.ts'
import type { AuditEvent } from './audit-record.ts'

const truncatedAnnotation = 'audit.k8s.io/truncated'

/** undefined when it is longer than `bytesMax` without its objects, too. */
export function auditLine(event: AuditEvent, bytesMax = Infinity): string | undefined {
  const line = JSON.stringify(event)
  if (bytesOf(line, bytesMax) <= bytesMax) return line
  const annotations = { ...(event['annotations'] as object | undefined), [truncatedAnnotation]: 'true' }
  const short = JSON.stringify({ ...without(without(event, 'requestObject'), 'responseObject'), annotations })
  return bytesOf(short, bytesMax) <= bytesMax ? short : undefined
}

/** Counted only where it can matter. */
const bytesOf = (text: string, bytesMax: number): number =>
  text.length * 3 <= bytesMax ? text.length : new TextEncoder().encode(text).length
