// Answers the API server's questions about decisions, for a scheduler in a process of its own.
import type { Clock } from '../base/clock.ts'
import { errorText, type Log } from '../base/log.ts'
import type { DecisionQuestion } from '../api/flow-wire.ts'
import { StatusError } from '../api/status-error.ts'

export interface QuestionAnswererParts {
  /** Questions as they come, until the connection ends. */
  readonly questions: (signal: AbortSignal) => AsyncIterable<DecisionQuestion>
  readonly answer: (id: number, explanation: object | undefined, signal: AbortSignal) => Promise<void>
  readonly explain: (podKey: string) => object | undefined
  readonly clock: Clock
  readonly log: Log
}

const retryMs = 1_000

/** Runs until the signal, or until the server says that it asks nothing. */
export async function answerQuestions(
  { questions, answer, explain, clock, log }: QuestionAnswererParts,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { id, pod } of questions(signal)) await answer(id, explain(pod), signal)
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof StatusError && [403, 404, 405].includes(error.code)) {
        log.info('the API server asks nothing about decisions', { reason: error.message })
        return
      }
      log.debug('a question about a decision could not be answered', { error: errorText(error) })
    }
    await clock.sleep(retryMs, signal).catch(() => undefined)
  }
}
