// The command line of the runner.
import { parseArgs } from 'node:util'
import { upstreamFolder } from '../upstream-executables.ts'
import type { OutcomeState } from './spec-report.ts'
import { outcomeStates } from './spec-report.ts'

export const usage = `npm run conformance -- [<focus>] [flags]

Runs specs of Kubernetes' e2e suite against a cluster of this checkout with two nodes and real containers. The focus is
a regular expression for their names (\\[Conformance\\]). Specs that have a result are not run again.

  --suite <folder>    the executables of the suite ($COXSWAIN_SUITE, or ~/.cache/coxswain/suite)
  --results <folder>  results.json, results.md, logs of the cluster and of failed specs (.cache/conformance/results)
  --skip <pattern>    no specs whose name matches this regular expression
  --specs <file>      only the specs in this file, one name per line
  --others            specs that are no conformance specs and that this machine can run (other-specs.ts)
  --store <store>     the store of the cluster: sqlite (the default), or etcd, of which one member is started
  --again <states>    also run specs again that are, for example, failed,hollow
  --parallel <n>      how many specs run at a time (3); serial ones always run alone
  --batch <n>         how many specs are run before the results are saved (60)
  --batch-minutes <n> when a batch ends; specs that are running then are interrupted (60)
  --minutes <n>       when the run ends; specs that are running then are interrupted (600)
  --up=<flags>        further flags of coxswain up, in one argument
  --images <file>     an archive of images that was built before (.cache/conformance/images.tar)
`

const storeKinds = ['sqlite', 'etcd'] as const
type StoreKind = (typeof storeKinds)[number]

export interface Options {
  readonly focus: string
  readonly suite: string
  readonly results: string | undefined
  readonly skip: string | undefined
  readonly specs: string | undefined
  readonly others: boolean
  readonly store: StoreKind
  readonly again: ReadonlySet<OutcomeState>
  readonly parallel: number
  readonly batch: number
  readonly batchMinutes: number
  readonly minutes: number
  readonly up: readonly string[]
  readonly images: string | undefined
}

/** A mistyped flag is an error. */
export class UsageError extends Error {}

export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parsed(args)
  if (positionals.length > 1) throw new UsageError(`one focus is expected, not ${positionals.join(' and ')}`)
  if (values.specs !== undefined && (values.others || positionals.length > 0))
    throw new UsageError('--specs names all specs of a run, so that there is neither a focus nor --others')
  const again = (values.again ?? '').split(',').filter((state) => state !== '')
  const unknown = again.find((state) => !outcomeStates.some((known) => known === state))
  if (unknown !== undefined) throw new UsageError(`--again ${unknown}: it is none of ${outcomeStates.join(', ')}`)
  const store = storeKinds.find((kind) => kind === values.store)
  if (store === undefined) throw new UsageError(`--store ${values.store}: it is none of ${storeKinds.join(', ')}`)
  return {
    focus: positionals[0] ?? (values.others || values.specs !== undefined ? '.' : String.raw`\[Conformance\]`),
    suite: values.suite,
    results: values.results,
    skip: values.skip,
    specs: values.specs,
    others: values.others,
    store,
    again: new Set(again as OutcomeState[]),
    parallel: positive('parallel', values.parallel),
    batch: positive('batch', values.batch),
    batchMinutes: positive('batch-minutes', values['batch-minutes']),
    minutes: positive('minutes', values.minutes),
    up: (values.up ?? '').split(' ').filter((flag) => flag !== ''),
    images: values.images,
  }
}

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        suite: { ...text, default: upstreamFolder() },
        results: text,
        skip: text,
        specs: text,
        others: { type: 'boolean', default: false },
        store: { ...text, default: 'sqlite' },
        again: text,
        parallel: { ...text, default: '3' },
        batch: { ...text, default: '60' },
        'batch-minutes': { ...text, default: '60' },
        minutes: { ...text, default: '600' },
        up: text,
        images: text,
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error })
  }
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new UsageError(`--${name} ${text}: it is not a positive integer`)
  return Number(text)
}
