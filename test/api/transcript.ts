// The recorded transcript: what kubectl printed against upstream, command by command, and the same commands against us.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rawCalls, type RawCalls } from '../flows/raw-calls.ts'
import type { Kubectl } from '../kubectl.ts'
import { runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'

export interface Exchange {
  readonly command: string
  readonly exit: number
  readonly stdout: string
  readonly stderr: string
}

interface Transcript {
  readonly files: Readonly<Record<string, string>>
  readonly transcript: readonly Exchange[]
}

export async function readTranscript(): Promise<Transcript> {
  const text = await readFile(new URL('../facts/kubectl.json', import.meta.url), 'utf8')
  return JSON.parse(text) as Transcript
}

/** What the recorder's editor did when `kubectl edit` opened it. */
const editor = 'sed -i s/nginx:1/nginx:2/'

/** The recorder's CronJob; it wrote a space inside an argument as an underscore. Nothing fired while it recorded. */
const everyMinute = { asArgument: '*/1_*_*_*_*', asPrinted: '*/1 * * * *' }
/** What ours gets in its place, so that no minute turns into a job and its pod while the commands run. */
const seldom = '0 0 29 2 *'

/** Who only reads may read again, until controllers have come as far as they had when it was recorded. */
const reads = /^kubectl (get|describe|rollout history) /
const readAgainMax = 30

export interface Replay {
  readonly kubectl: Kubectl
  readonly kubeconfig: string
  readonly folder: string
  readonly isAsRecorded: (recorded: Exchange, ours: Exchange) => boolean
}

/** Runs every command in order, in a folder with the recorded files; yields what each printed in the end. */
export async function* replay(
  { kubectl, kubeconfig, folder, isAsRecorded }: Replay,
  { files, transcript }: Transcript,
): AsyncGenerator<{ readonly recorded: Exchange; readonly ours: Exchange }> {
  await using calls = rawCalls(await readFile(kubeconfig, 'utf8'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  for (const recorded of transcript) {
    const { command } = recorded
    const args = command
      .split(' ')
      .slice(1)
      .map((part) => part.replace(everyMinute.asArgument, seldom))
    const run = async (): Promise<Exchange> => {
      const { code, out, err } = await runKubectl(kubectl, kubeconfig, args, { folder, editor })
      return { command, exit: code, stdout: out.replaceAll(seldom, everyMinute.asPrinted), stderr: err }
    }
    let ours = await run()
    if (reads.test(command))
      for (let again = 0; again < readAgainMax && !isAsRecorded(recorded, ours); again++) ours = await run()
    yield { recorded, ours }
    // Of two changes that it finds at once the controller makes one revision.
    await until(() => areObserved(calls))
  }
}

interface Observed {
  readonly metadata: { readonly generation: number }
  readonly status: { readonly observedGeneration?: number }
}

async function areObserved(calls: RawCalls): Promise<boolean> {
  const { items } = (await calls.call('GET', '/apis/apps/v1/deployments')).body as { items: readonly Observed[] }
  return items.every(({ metadata, status }) => status.observedGeneration === metadata.generation)
}

const uid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** What differs from run to run, each with the word that the recorder put in its place. */
const volatile: readonly [RegExp, string][] = [
  [uid, '<uid>'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '<tmp>/$1'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, '<stamp>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'https://<server>'],
  [/\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+/g, '<ip>'],
  [/\b(\d+[dhms])+\b/g, '<age>'],
  [/\b(shop|j2|j3|d2)-[0-9a-f]{9,10}(-[a-z0-9]{5})?\b/g, '$1-<hash>'],
  [/\bshop-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'shop-<hash>'],
  [/:3[0-2]\d{3}\//g, ':<port>/'],
  [/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<digest>'],
  [/(shop-)?<hash>-<hash>/g, '<hash>'],
]

/** The text without volatile values, and with columns of a fixed width. */
export function settled(text: string): string {
  let result = text
  for (const [pattern, word] of volatile) result = result.replaceAll(pattern, word)
  return result
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/ {2,}/g, '  ')
        .replace(/ +(<age>)/, '  $1')
        .trimEnd(),
    )
    .join('\n')
}
