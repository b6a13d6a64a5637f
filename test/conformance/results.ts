// What is known about each spec, kept in a file after each batch so that an interrupted run continues.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { realClock } from '../../src/base/time/clock.ts'
import { resultsPage, type Incident, type Recorded } from './results-page.ts'
import type { Outcome } from './spec-report.ts'

export class Results {
  readonly #folder: string
  readonly #specs: Map<string, Outcome>
  #seconds: number
  readonly #incidents: Incident[]

  constructor(folder: string) {
    this.#folder = folder
    const before = read(join(folder, 'results.json'))
    this.#specs = new Map(Object.entries(before.specs))
    this.#seconds = before.seconds
    this.#incidents = [...before.incidents]
  }

  outcome(name: string): Outcome | undefined {
    return this.#specs.get(name)
  }

  add(outcomes: ReadonlyMap<string, Outcome>, seconds: number): void {
    for (const [name, outcome] of outcomes) this.#specs.set(name, withFirstFailure(outcome, this.#specs.get(name)))
    this.#seconds += seconds
  }

  incident(what: string): void {
    this.#incidents.push({ time: new Date(realClock.nowMs()).toISOString(), what })
  }

  /** Writes the file and the page; a reader sees either the old or the new file. */
  save(): void {
    const recorded = this.recorded()
    const file = join(this.#folder, 'results.json')
    writeFileSync(`${file}.new`, JSON.stringify(recorded, undefined, 1))
    renameSync(`${file}.new`, file)
    writeFileSync(join(this.#folder, 'results.md'), resultsPage(recorded))
  }

  recorded(): Recorded {
    const specs = Object.fromEntries([...this.#specs].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    return { specs, seconds: Math.round(this.#seconds), incidents: this.#incidents }
  }
}

/** A spec that passes when it is run again has failed nevertheless, and the reason is still to be found. */
function withFirstFailure(outcome: Outcome, before: Outcome | undefined): Outcome {
  const { firstFailure = before?.state === 'failed' || before?.state === 'hollow' ? before : undefined } = before ?? {}
  return firstFailure === undefined ? outcome : { ...outcome, firstFailure }
}

function read(file: string): Recorded {
  if (!existsSync(file)) return { specs: {}, seconds: 0, incidents: [] }
  return JSON.parse(readFileSync(file, 'utf8')) as Recorded
}
