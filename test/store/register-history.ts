// OperationHistory: the lines of register-load.ts as one history per key. The position of a line is its time.
import type { Operation, SequentialModel } from '../histories/linearizable.ts'
import { initialValue } from './register-load.ts'

export type RegisterAction =
  | { readonly kind: 'read'; readonly value: string }
  | { readonly kind: 'write'; readonly value: string }
  | { readonly kind: 'swap'; readonly from: string; readonly to: string; readonly swapped: boolean }

export type RegisterOperation = Operation<RegisterAction>

export const register: SequentialModel<RegisterAction> = {
  initial: initialValue,
  after(value, action) {
    switch (action.kind) {
      case 'read':
        return action.value === value ? value : undefined
      case 'write':
        return action.value
      case 'swap':
        if ((action.from === value) !== action.swapped) return undefined
        return action.swapped ? action.to : value
      default:
        return action satisfies never
    }
  },
}

interface Open {
  readonly invoked: number
  readonly key: string
  readonly words: readonly string[]
}

export class OperationHistory {
  readonly histories = new Map<string, RegisterOperation[]>()
  readonly #open = new Map<string, Open>()
  #place = 0

  /** The number of completed operations. */
  ended = 0

  add(line: string): void {
    const [client = '', kind = '', ...words] = line.split(' ')
    if (kind === 'invoke') {
      const [key = '', ...rest] = words
      this.#open.set(client, { invoked: this.#place++, key, words: rest })
      return
    }
    const open = this.#open.get(client)
    if (open === undefined) throw new Error(`${line}: nothing was invoked`)
    this.#open.delete(client)
    if (kind === 'lost') this.#closeUncertain(open, Infinity)
    else this.#close(open, actionOf(open.words, words[0] ?? ''), this.#place++, false)
    this.ended++
  }

  /** The clients were killed: their operations in flight may have happened, up to now. */
  kill(): void {
    const now = this.#place++
    for (const open of this.#open.values()) this.#closeUncertain(open, now)
    this.#open.clear()
  }

  /** Its outcome is unknown: it may have happened up to `latest`, or not at all. */
  #closeUncertain(open: Open, latest: number): void {
    // A read or a failed swap without a result gives no information.
    if (open.words[0] !== 'read') this.#close(open, actionOf(open.words, 'true'), latest, true)
  }

  #close({ invoked, key }: Open, action: RegisterAction, returned: number, uncertain: boolean): void {
    const history = this.histories.get(key) ?? []
    history.push({ invoked, returned, action, uncertain })
    this.histories.set(key, history)
  }
}

function actionOf([kind = '', first = '', second = '']: readonly string[], result: string): RegisterAction {
  if (kind === 'write') return { kind, value: first }
  if (kind === 'swap') return { kind, from: first, to: second, swapped: result === 'true' }
  return { kind: 'read', value: result }
}
