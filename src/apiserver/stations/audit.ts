// On the record: what a request was, and what became of it.
import { Channel } from '../../base/channel.ts'
import { StatusError } from '../../api/status-error.ts'
import type { Answer, WatchEvent } from '../answer.ts'
import { isKnownFailure, statusErrorOf } from '../failure.ts'
import { defineStation } from '../station.ts'

export const audit = defineStation({
  name: 'audit',
  async handle(request, next, { audit: auditor }) {
    const record = auditor?.begin(request)
    if (auditor === undefined || record === undefined) return next(request)
    const received = auditor.tell(record, 'RequestReceived')
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
      record.failed(statusErrorOf(error))
      const isBug = !(error instanceof StatusError || isKnownFailure(error) || request.context.signal.aborted)
      await Promise.all([received, isBug ? auditor.tell(record, 'Panic') : complete()])
      throw error
    }
  },
})

type LongAnswer = Extract<Answer, { kind: 'watch' | 'upgraded' }>

const isLong = (answer: Answer): answer is LongAnswer => answer.kind === 'watch' || answer.kind === 'upgraded'

/** The answer, with `ended` called when it is all said. */
function untilEnd(answer: LongAnswer, ended: () => void): Answer {
  if (answer.kind === 'upgraded') return { ...answer, join: (socket) => answer.join(socket).finally(ended) }
  if (!(answer.events instanceof Channel)) return { ...answer, events: followed(answer.events, ended) }
  answer.events.whenEnded(ended)
  return answer
}

async function* followed(events: AsyncIterable<WatchEvent>, ended: () => void): AsyncGenerator<WatchEvent> {
  try {
    yield* events
  } finally {
    ended()
  }
}
