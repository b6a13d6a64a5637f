// Events that happen all the time and change nothing that users look for: reads, leases, and Event objects. A diagram of everything
// omits them.
import type { FlowObject } from './flow-recorder.ts'

export const isRead = (what: string): boolean => /^(get|list|watch) /.test(what)

export const isBackground = (what: string, object: FlowObject | undefined): boolean =>
  object?.resource === 'leases' || object?.resource === 'events' || isRead(what)
