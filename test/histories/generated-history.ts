// Histories of a correct cluster, from a seed: clients call an object store in memory, whose writes take effect at any
// moment between call and response.
import { seededRandom, type Random } from '../../src/base/random/random.ts'
import type { History, Input, ListCall, ListedItem, ObjectCall, Output, WatchedEvent } from './history.ts'

const clients = 6
const keys = ['a', 'b', 'c']
const steps = 1_800

interface Running {
  readonly call: number
  readonly key: string
  readonly input: Input | 'list'
  result: Output | Pick<ListCall, 'revisions' | 'items'> | undefined
  readonly isLost: boolean
}

export function generatedHistory(seed: number): History {
  const random = seededRandom(seed)
  const objects = new Map<string, ListedItem>()
  const events: WatchedEvent[] = []
  const calls: ObjectCall[] = []
  const lists: ListCall[] = []
  const running = new Map<number, Running>()
  let revision = 100
  let written = 0

  const store = (key: string, version: string | undefined): Output => {
    const before = objects.get(key)
    revision++
    if (version === undefined) {
      objects.delete(key)
      events.push({ type: 'DELETED', key, version: before?.version ?? '', revision })
      return { kind: 'written' }
    }
    objects.set(key, { key, version, revision })
    events.push({ type: before === undefined ? 'ADDED' : 'MODIFIED', key, version, revision })
    return { kind: 'written', revision }
  }
  const apply = (key: string, input: Input): Output => {
    const now = objects.get(key)
    switch (input.kind) {
      case 'create':
        return now === undefined ? store(key, input.version) : { kind: 'conflict' }
      case 'get':
        return now === undefined ? { kind: 'absent' } : { kind: 'found', version: now.version, revision: now.revision }
      case 'patch':
        return now === undefined ? { kind: 'absent' } : store(key, input.version)
      case 'update':
      case 'delete': {
        if (now === undefined) return { kind: 'absent' }
        if (input.from !== undefined && input.from !== now.version) return { kind: 'conflict' }
        return store(key, input.kind === 'update' ? input.version : undefined)
      }
      default:
        return input satisfies never
    }
  }
  /** A version that the object had before. */
  const outdated = (key: string) => events.find((event) => event.key === key)?.version
  const begin = (call: number): Running => {
    const key = pick(random, keys)
    const isList = random.below(10) === 0
    const input = isList
      ? 'list'
      : newInput(random, `v${written++}`, random.below(4) === 0 ? outdated(key) : objects.get(key)?.version)
    return { call, key, input, result: undefined, isLost: !isList && random.below(25) === 0 }
  }
  const end = (client: number, at: number, { call, key, input, result, isLost }: Running): void => {
    const timed = { client, server: client % 3, call, return: at }
    if (input === 'list') lists.push({ record: 'list', ...timed, ...(result as Pick<ListCall, 'revisions' | 'items'>) })
    else calls.push({ record: 'call', ...timed, key, input, output: isLost ? { kind: 'unknown' } : (result as Output) })
  }
  for (let at = 0; at < steps; at++) {
    const client = random.below(clients)
    const one = running.get(client)
    if (one === undefined) running.set(client, begin(at))
    else if (one.result === undefined && !(one.isLost && random.below(2) === 0))
      one.result =
        one.input === 'list' ? { revisions: [revision], items: [...objects.values()] } : apply(one.key, one.input)
    else {
      end(client, at, one)
      running.delete(client)
    }
  }
  for (const [client, one] of running) if (one.input !== 'list') end(client, steps, { ...one, isLost: true })
  const watch = (name: string) => ({ record: 'watch', name, from: 100, to: revision, events: [...events] }) as const
  return { calls, lists, watches: [watch('first'), watch('second')] }
}

const pick = <T>(random: Random, items: readonly T[]): T => items[random.below(items.length)] as T

function newInput(random: Random, version: string, from = 'unknown'): Input {
  return pick<Input>(random, [
    { kind: 'create', version },
    { kind: 'get' },
    { kind: 'get' },
    { kind: 'update', from, version },
    { kind: 'update', from, version },
    { kind: 'patch', version },
    random.below(2) === 0 ? { kind: 'delete' } : { kind: 'delete', from },
  ])
}
