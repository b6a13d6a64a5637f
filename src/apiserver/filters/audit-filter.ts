// The audit filter: opens the record of a request where the policy asks for one, and writes its stages.
import { StatusError } from '../../api/errors/status-error.ts'
import type { ApiResponse } from '../request/response.ts'
import type { AuditRecord } from '../audit/audit-record.ts'
import type { Auditor } from '../audit/auditor.ts'
import { isExpectedError, statusErrorOf } from '../http/error-status.ts'
import type { ApiRequest } from '../request/request.ts'
import { defineFilter, type Handler } from './filter.ts'

export const auditFilter = defineFilter({
  name: 'audit',
  handle(request, next, { audit: auditor }) {
    const record = auditor?.begin(request)
    return auditor === undefined || record === undefined
      ? next(request)
      : handleRecorded(request, next, auditor, record)
  },
})

async function handleRecorded(
  request: ApiRequest,
  next: Handler,
  auditor: Auditor,
  record: AuditRecord,
): Promise<ApiResponse> {
  const received = auditor.write(record, 'RequestReceived')
  if (auditor.isStrict && !(await received)) throw auditor.rejection(request.origin?.uri ?? '')
  const complete = () => auditor.write(record, 'ResponseComplete')
  try {
    const answer = await next({ ...request, record })
    record.setResponse(answer)
    if (!isLong(answer)) {
      await Promise.all([received, complete()])
      return answer
    }
    await Promise.all([received, auditor.write(record, 'ResponseStarted')])
    return onEnd(answer, () => void complete())
  } catch (error) {
    const isBug = !(error instanceof StatusError || isExpectedError(error) || request.context.signal.aborted)
    if (isBug) record.setPanic(error)
    else record.setError(statusErrorOf(error))
    await Promise.all([received, isBug ? auditor.write(record, 'Panic') : complete()])
    throw error
  }
}

/** Watches and upgraded connections continue after the response has started. */
const isLong = (answer: ApiResponse): boolean =>
  answer.kind === 'watch' || (answer.kind === 'wire' && answer.response.onUpgrade !== undefined)

/** The response, with `ended` called when it has been sent completely. */
function onEnd(answer: ApiResponse, ended: () => void): ApiResponse {
  if (answer.kind === 'wire') {
    const { onUpgrade: takeOver } = answer.response
    if (takeOver === undefined) return answer
    return { ...answer, response: { ...answer.response, onUpgrade: (socket) => takeOver(socket).finally(ended) } }
  }
  if (answer.kind !== 'watch') return answer
  answer.events.onEnded(ended)
  return answer
}
