// Upstream's families of metrics (v1.36), recorded from its executables: one line for each family, with its name, type,
// stability, labels and bucket bounds. `go_*` is left out: those describe Go's runtime.
//   node test/metrics/upstream-families.ts < scrape.txt > test/metrics/families/<component>.txt
import { readFileSync } from 'node:fs'
import { familiesOf, type MetricFamily } from './metric-family.ts'

export type Component = 'apiserver' | 'controller-manager' | 'scheduler'

const list = (text: string): readonly string[] => (text === '-' ? [] : text.split(','))

export const upstreamFamilies = (component: Component): readonly MetricFamily[] =>
  readFileSync(new URL(`families/${component}.txt`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [name = '', type = '', stability = '', labels = '-', buckets = '-'] = line.split(' ')
      return { name, type, stability: stability === '-' ? '' : stability, labels: list(labels), buckets: list(buckets) }
    })

if (import.meta.main)
  for (const { name, type, stability, labels, buckets } of familiesOf(readFileSync(0, 'utf8')))
    if (!name.startsWith('go_'))
      process.stdout.write(`${[name, type, stability || '-', labels.join() || '-', buckets.join() || '-'].join(' ')}\n`)
