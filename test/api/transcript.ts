// The recorded transcript: the output of kubectl with upstream, command by command, and of the same commands here.
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

/** The edit that the recorder made when `kubectl edit` opened its editor. */
const editor = 'sed -i s/nginx:1/nginx:2/'

/**
 * The recorder's CronJob; a space inside an argument was recorded as an underscore. No Job was started during the
 * recording.
 */
const everyMinute = { asArgument: '*/1_*_*_*_*', asPrinted: '*/1 * * * *' }
/** The schedule that is used instead, so that no Job starts while the commands run. */
const seldom = '0 0 29 2 *'

/** Commands that only read are repeated until the controllers have reached the recorded state. */
const reads = /^kubectl (get|describe|rollout history) /
const readAgainMax = 30

export interface Replay {
  readonly kubectl: Kubectl
  readonly kubeconfig: string
  readonly folder: string
  readonly isAsRecorded: (recorded: Exchange, ours: Exchange) => boolean
}

/** Runs every command in order, in a directory with the recorded files; yields the final output of each. */
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
    // The controller creates one revision for two changes that it observes at once.
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

/** Values that differ between runs, each with the placeholder of the recorder. */
const volatile: readonly [RegExp, string][] = [
  [uid, '<uid>'],
  [/\/tmp\/(LIVE|MERGED)-\d+/g, '<tmp>/$1'],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \+0000/g, '<stamp>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>'],
  [/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, '<time>'],
  [/https:\/\/127\.0\.0\.1:\d+/g, 'https://<server>'],
  [/\b10\.(9[6-9]|10\d|11[01])\.\d+\.\d+/g, '<ip>'],
  [/\b(shop|j2|j3|d2)-[0-9a-f]{9,10}(-[a-z0-9]{5})?\b/g, '$1-<hash>'],
  [/\bshop-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, 'shop-<hash>'],
  // After the generated names, which may resemble an age: `shop-22h6d`.
  [/\b(\d+[dhms])+\b/g, '<age>'],
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
