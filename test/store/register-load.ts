// Concurrent clients that read, write and swap a few keys, and print what they do as lines: `<client> invoke <key>
// <kind> …`, then `<client> return …`, or `<client> lost` when the outcome is unknown. operation-history.ts parses
// them.
import type { Random } from '../../src/base/random/random.ts'
import { StoreUnavailable, type KeyValue, type Store } from '../../src/store/store.ts'

export interface LoadOptions {
  readonly store: Store
  readonly random: Random
  /** Makes the written values unique among all runs on one store. */
  readonly run: string
  readonly operationsPerClient: number
  readonly say: (line: string) => void
  /** Called before a client tries again after the store was unavailable. */
  readonly pause?: () => Promise<void>
}

const clients = 6
const keys = ['/register/a', '/register/b', '/register/c']
export const initialValue = '-'

const { signal } = new AbortController()
const text = (value: Uint8Array | undefined) => (value === undefined ? initialValue : new TextDecoder().decode(value))

export async function registerLoad({
  store,
  random,
  run,
  operationsPerClient,
  say,
  pause = () => Promise.resolve(),
}: LoadOptions): Promise<void> {
  const commit = async (key: string, value: string, modRevision?: number) => {
    const conditions = modRevision === undefined ? [] : [{ key, modRevision }]
    const operations = [{ kind: 'put', key, value: new TextEncoder().encode(value) } as const]
    return (await store.commit({ conditions, operations }, signal)).kind === 'committed'
  }
  /** Prints the operation and its outcome; undefined when the outcome is unknown. */
  const act = async <T>(name: string, what: string, action: () => Promise<T>, shown: (result: T) => string) => {
    say(`${name} invoke ${what}`)
    try {
      const result = await action()
      say(`${name} return ${shown(result)}`)
      return { result }
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      say(`${name} lost`)
      await pause()
      return undefined
    }
  }
  const client = async (name: string) => {
    for (let i = 0; i < operationsPerClient; i++) {
      const key = keys[random.below(keys.length)] ?? ''
      const value = `${run}.${name}.${i}`
      const choice = random.below(3)
      if (choice === 0) {
        await act(
          name,
          `${key} write ${value}`,
          () => commit(key, value),
          () => '',
        )
        continue
      }
      const shown = (item: KeyValue | undefined) => text(item?.value)
      const read = await act(name, `${key} read`, () => store.get(key, signal), shown)
      if (choice === 1 || read === undefined) continue
      const { result: item } = read
      const swap = () => commit(key, value, item?.modRevision ?? 0)
      await act(name, `${key} swap ${text(item?.value)} ${value}`, swap, String)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => client(`c${i}`)))
}
