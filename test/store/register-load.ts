// Several clients that read, write and swap a few keys at once, and say what they do as lines:
// `<client> invoke <key> <kind> …` and `<client> return …`. record.ts reads them back into histories.
import type { Random } from '../../src/base/random.ts'
import type { Store } from '../../src/store/store.ts'

export interface LoadOptions {
  readonly store: Store
  readonly random: Random
  /** Makes the written values unique among all runs on one store. */
  readonly run: string
  readonly operationsPerClient: number
  readonly say: (line: string) => void
}

const clients = 6
const keys = ['/register/a', '/register/b', '/register/c']
export const initialValue = '-'

const { signal } = new AbortController()
const text = (value: Uint8Array | undefined) => (value === undefined ? initialValue : new TextDecoder().decode(value))

export async function registerLoad({ store, random, run, operationsPerClient, say }: LoadOptions): Promise<void> {
  const commit = async (key: string, value: string, modRevision?: number) => {
    const conditions = modRevision === undefined ? [] : [{ key, modRevision }]
    const operations = [{ kind: 'put', key, value: new TextEncoder().encode(value) } as const]
    return (await store.commit({ conditions, operations }, signal)).kind === 'committed'
  }
  const client = async (name: string) => {
    for (let i = 0; i < operationsPerClient; i++) {
      const key = keys[random.below(keys.length)] ?? ''
      const value = `${run}.${name}.${i}`
      const choice = random.below(3)
      if (choice === 0) {
        say(`${name} invoke ${key} write ${value}`)
        await commit(key, value)
        say(`${name} return`)
        continue
      }
      say(`${name} invoke ${key} read`)
      const item = await store.get(key, signal)
      say(`${name} return ${text(item?.value)}`)
      if (choice === 1) continue
      say(`${name} invoke ${key} swap ${text(item?.value)} ${value}`)
      say(`${name} return ${await commit(key, value, item?.modRevision ?? 0)}`)
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, i) => client(`c${i}`)))
}
