// Records the scenarios of the attach/detach controller from a running Kubernetes:
//   node test/record/attach-detach.ts admin.kubeconfig 'stop the controllers' 'start the controllers'
// Scenarios run concurrently in real time, each with its own nodes and volumes. Those that restart the controllers follow,
// and share one restart. A fourth argument, a pattern, records only the scenarios
// whose names match it.
import { execSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { realClock, rfc3339 } from '../../src/base/time/clock.ts'
import { openRemote } from '../../src/cluster/client/remote.ts'
import { restartingScenarios, lastingScenarios } from '../attach-detach/scenarios.ts'
import type { Scenario } from '../attach-detach/scenario.ts'
import { Stage, type Sight, type World } from '../attach-detach/stage.ts'

const [kubeconfig = '', stopCommand = 'true', startCommand = 'true', only = ''] = process.argv.slice(2)
const stopped = new AbortController()
const remote = await openRemote(readFileSync(kubeconfig, 'utf8'), stopped.signal)
const quietMs = 4_000
const pollMs = 250
const settleMsMax = 20_000

/** The scenarios that wait for the restart, which happens when all of them do. */
class Restart {
  readonly #count: number
  readonly #waiting: (() => Promise<void>)[] = []
  readonly #done = Promise.withResolvers<void>()

  constructor(count: number) {
    this.#count = count
  }

  async arrive(between: () => Promise<void>): Promise<void> {
    this.#waiting.push(between)
    if (this.#waiting.length === this.#count) {
      execSync(stopCommand, { stdio: 'inherit' })
      await Promise.all(this.#waiting.map((each) => each()))
      execSync(startCommand, { stdio: 'inherit' })
      this.#done.resolve()
    }
    await this.#done.promise
  }
}

const sleep = (ms: number) => realClock.sleep(ms, stopped.signal)

/** Until what is visible has not changed for a while. */
async function settle(observe: () => Promise<unknown>): Promise<void> {
  let last = ''
  let sinceMs = realClock.nowMs()
  for (const endMs = sinceMs + settleMsMax; realClock.nowMs() < endMs; await sleep(pollMs)) {
    const text = JSON.stringify(await observe())
    if (text !== last) sinceMs = realClock.nowMs()
    else if (realClock.nowMs() - sinceMs > quietMs) return
    last = text
  }
}

async function record(scenarios: readonly Scenario[], prefix: string): Promise<[string, readonly Sight[]][]> {
  const restart = new Restart(scenarios.length)
  const world: World = {
    client: remote.clientAs('test'),
    sleep,
    settle,
    restart: (between) => restart.arrive(between),
    now: () => rfc3339(realClock.nowMs()),
  }
  return Promise.all(
    scenarios.map(async ({ name, run }, index): Promise<[string, readonly Sight[]]> => {
      const stage = new Stage(world, `${prefix}${index}`)
      await stage.open()
      await run(stage)
      process.stdout.write(`${name}\n`)
      return [name, stage.sights]
    }),
  )
}

const wanted = (scenarios: readonly Scenario[]) => scenarios.filter(({ name }) => new RegExp(only).test(name))
const recorded = [
  ...(await record(wanted(lastingScenarios), `l${Math.floor(realClock.nowMs() / 1000) % 10_000}x`)),
  ...(await record(wanted(restartingScenarios), `r${Math.floor(realClock.nowMs() / 1000) % 10_000}x`)),
]
const file = new URL('../attach-detach/recorded.json', import.meta.url)
const known = new Map(Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, readonly Sight[]>))
for (const [name, sights] of recorded) known.set(name, sights)
const lines = [...lastingScenarios, ...restartingScenarios].map(({ name }) => {
  const sights = (known.get(name) ?? []).map((sight) => `\n  ${JSON.stringify(sight)}`)
  return `${JSON.stringify(name)}: [${sights.join()}\n]`
})
writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
await remote.close()
stopped.abort()
