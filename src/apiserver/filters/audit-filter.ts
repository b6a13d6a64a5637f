// The audit filter: opens the record of a request if the policy requires one, and writes its stages.
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
    const response = await next({ ...request, record })
    record.setResponse(response)
    if (!isLong(response)) {
      await Promise.all([received, complete()])
      return response
    }
    await Promise.all([received, auditor.write(record, 'ResponseStarted')])
    return onEnd(response, () => void complete())
  } catch (error) {
    const isBug = !(error instanceof StatusError || isExpectedError(error) || request.context.signal.aborted)
    if (isBug) record.setPanic(error)
    else record.setError(statusErrorOf(error))
    await Promise.all([received, isBug ? auditor.write(record, 'Panic') : complete()])
    throw error
  }
}

/** Watches and upgraded connections continue after the response has started. */
const isLong = (response: ApiResponse): boolean =>
  response.kind === 'watch' || (response.kind === 'wire' && response.response.onUpgrade !== undefined)

/** The response, with `ended` called when it has been sent completely. */
function onEnd(response: ApiResponse, ended: () => void): ApiResponse {
  if (response.kind === 'wire') {
    const { onUpgrade } = response.response
    if (onUpgrade === undefined) return response
    return { ...response, response: { ...response.response, onUpgrade: (socket) => onUpgrade(socket).finally(ended) } }
  }
  if (response.kind !== 'watch') return response
  response.events.onEnded(ended)
  return response
}
