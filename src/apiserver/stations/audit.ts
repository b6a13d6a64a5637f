// On the record: what a request was, and what became of it.
import { StatusError } from '../../api/status-error.ts'
import type { Answer } from '../answer.ts'
import type { AuditRecord } from '../audit/audit-record.ts'
import type { Auditor } from '../audit/auditor.ts'
import { isKnownFailure, statusErrorOf } from '../failure.ts'
import type { ApiRequest } from '../request.ts'
import { defineStation, type Next } from '../station.ts'

export const audit = defineStation({
  name: 'audit',
  handle(request, next, { audit: auditor }) {
    const record = auditor?.begin(request)
    return auditor === undefined || record === undefined ? next(request) : recorded(request, next, auditor, record)
  },
})

async function recorded(request: ApiRequest, next: Next, auditor: Auditor, record: AuditRecord): Promise<Answer> {
  const received = auditor.tell(record, 'RequestReceived')
  if (auditor.isStrict && !(await received)) throw auditor.rejected(request.origin?.uri ?? '')
  const complete = () => auditor.tell(record, 'ResponseComplete')
  try {
    const answer = await next({ ...request, record })
    record.answered(answer)
    if (!isLong(answer)) {
      await Promise.all([received, complete()])
      return answer
    }
    await Promise.all([received, auditor.tell(record, 'ResponseStarted')])
    return untilEnd(answer, () => void complete())
  } catch (error) {
    const isBug = !(error instanceof StatusError || isKnownFailure(error) || request.context.signal.aborted)
    if (isBug) record.panicked(error)
    else record.failed(statusErrorOf(error))
    await Promise.all([received, isBug ? auditor.tell(record, 'Panic') : complete()])
    throw error
  }
}

/** Watches, and connections that were handed over: they go on after the answer has begun. */
const isLong = (answer: Answer): boolean =>
  answer.kind === 'watch' || (answer.kind === 'wire' && answer.answer.takeOver !== undefined)

/** The answer, with `ended` called when it is all said. */
function untilEnd(answer: Answer, ended: () => void): Answer {
  if (answer.kind === 'wire') {
    const { takeOver } = answer.answer
    if (takeOver === undefined) return answer
    return { ...answer, answer: { ...answer.answer, takeOver: (socket) => takeOver(socket).finally(ended) } }
  }
  if (answer.kind !== 'watch') return answer
  answer.events.whenEnded(ended)
  return answer
}
