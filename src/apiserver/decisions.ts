// Why a pod is where it is: the scheduler of this process knows, or one that runs elsewhere. Those follow the questions
// and answer them: a decision over thousands of nodes travels only when somebody asks for it.
import { Channel } from '../base/channel.ts'
import type { Clock } from '../base/clock.ts'
import { decisionQuestionsPath, decisionsPath, type DecisionQuestion } from '../api/flow-wire.ts'
import { badRequest, pathNotFound } from '../api/status-error.ts'
import type { Answer } from './answer.ts'
import type { ApiRequest } from './request.ts'

export type Explain = (podKey: string) => object | undefined

/** So long a scheduler that runs elsewhere may take. */
const answerMsMax = 2_000
/** Questions that a follower has not read yet, and questions open at a time. */
const questionsMax = 100

interface Open {
  /** Who has not said yet that it knows nothing. */
  waiting: number
  readonly resolve: (explanation: object | undefined) => void
}

export class Decisions {
  readonly #explain: Explain
  readonly #clock: Clock
  readonly #followers = new Set<Channel<DecisionQuestion>>()
  readonly #open = new Map<number, Open>()
  #asked = 0

  constructor(explain: Explain, clock: Clock) {
    this.#explain = explain
    this.#clock = clock
  }

  static owns(path: string): boolean {
    return path === decisionQuestionsPath || path.startsWith(decisionsPath)
  }

  async answer({ target, body, context: { signal } }: ApiRequest): Promise<Answer> {
    if (target.kind !== 'path') throw pathNotFound()
    if (target.path !== decisionQuestionsPath) {
      const pod = target.path.slice(decisionsPath.length)
      const value = this.#explain(pod) ?? (await this.#ask(pod))
      if (target.verb !== 'get' || value === undefined) throw pathNotFound()
      return { kind: 'json', status: 200, value }
    }
    switch (target.verb) {
      case 'get': {
        const headers = { 'content-type': 'application/json-lines' }
        return { kind: 'wire', answer: { status: 200, headers, body: this.#follow(signal) } }
      }
      case 'post':
        this.#take(body.kind === 'value' ? body.value : undefined)
        return { kind: 'json', status: 200, value: {} }
      default:
        throw pathNotFound()
    }
  }

  async *#follow(signal: AbortSignal): AsyncGenerator<string> {
    const questions = new Channel<DecisionQuestion>(questionsMax, () => this.#followers.delete(questions))
    this.#followers.add(questions)
    // The first line says that questions will come.
    yield '\n'
    for await (const question of questions.endWith(signal)) yield `${JSON.stringify(question)}\n`
  }

  async #ask(pod: string): Promise<object | undefined> {
    if (this.#followers.size === 0 || this.#open.size >= questionsMax) return undefined
    const id = ++this.#asked
    const answered = Promise.withResolvers<object | undefined>()
    this.#open.set(id, { waiting: this.#followers.size, resolve: answered.resolve })
    const timer = this.#clock.after(answerMsMax, () => answered.resolve(undefined))
    for (const follower of this.#followers) follower.push({ id, pod })
    try {
      return await answered.promise
    } finally {
      timer.cancel()
      this.#open.delete(id)
    }
  }

  #take(value: unknown): void {
    if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'number')
      throw badRequest('id: must be the number of a question')
    const open = this.#open.get(value.id)
    if (open === undefined) return
    const known = 'explanation' in value && typeof value.explanation === 'object' ? value.explanation : null
    if (known !== null) open.resolve(known)
    else if (--open.waiting <= 0) open.resolve(undefined)
  }
}
