// The recorded transcript with the real kubectl: the same output line by line for every supported command. Missing
// features are listed by name, and must be removed from the list when they work.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { kubectls } from '../kubectl.ts'
import { startUp } from '../process.ts'
import { readTranscript, replay, settled, type Exchange } from './transcript.ts'

/** Commands whose output differs by design. */
const otherwise: Readonly<Record<string, string>> = {
  'kubectl version': "the client's own version",
  'kubectl config view --minify -o jsonpath={.contexts[0].name}': "the recorder's own kubeconfig",
  'kubectl get lease -A': 'names of machines',
  'kubectl get componentstatuses': "the recorder's scheduler did not run",
}

/** Commands that are not supported yet, by missing feature. */
const missing: Readonly<Record<string, readonly string[]>> = {}

/** Differences of newer clients: the recorded text as they would have printed it. */
const clientChanges: readonly [since: string, command: RegExp, from: RegExp, to: string][] = [
  ['1.34', /^kubectl delete (cm|svc)/, /(" deleted)( \(server dry run\))?$/gm, '$1 from default namespace$2'],
  ['1.34', /^kubectl describe deploy/, /( (Host )?Port: +\d+\/TCP)$/gm, '$1 (http)'],
  [
    '1.34',
    /^kubectl rollout undo/,
    /(rolled back\n)/,
    "$1Warning: resource deployments/shop was previously managed with 'kubectl apply'. Rolling back will not update the kubectl.kubernetes.io/last-applied-configuration annotation, which may cause unexpected behavior on future 'kubectl apply' operations. Consider using 'kubectl apply' with your previous configuration file instead.\n",
  ],
  [
    '1.34',
    /^kubectl autoscale/,
    /(autoscaled\n)/,
    "$1Flag --cpu-percent has been deprecated, Use --cpu with percentage or resource quantity format (e.g., '70%' for utilization or '500m' for milliCPU).\n",
  ],
]

/** Differences of older clients. */
const olderClients: readonly [before: string, command: RegExp, from: RegExp, to: string][] = [
  ['1.32', /^kubectl describe deploy/, /\n {2}Node-Selectors: +<none>\n {2}Tolerations: +<none>/, ''],
  ['1.32', /^kubectl describe svc/, /(Endpoints:) *$/m, '$1  <none>'],
  ['1.32', /^kubectl describe svc/, /Internal Traffic Policy:.*\n/, ''],
  ['1.32', /^kubectl describe cm/, /\n\n\n(BinaryData)/, '\n\n$1'],
  ['1.32', /^kubectl logs/, /error: error (from server .* not found) in namespace ".*"/, 'Error $1'],
  // They use colours even without a terminal.
  [
    '1.32',
    /^kubectl cluster-info$/,
    /(Kubernetes control plane) is running at (\S+)/,
    '\u001b[0;32m$1\u001b[0m is running at \u001b[0;33m$2\u001b[0m',
  ],
]

const isSince = (version: string, since: string): boolean =>
  Number(version.split('.')[1]) >= Number(since.split('.')[1])

function printed({ command, exit, stdout, stderr }: Exchange, version: string | undefined): string {
  let text = `${stdout}${stderr}`
  for (const [since, pattern, from, to] of clientChanges)
    if (version !== undefined && isSince(version, since) && pattern.test(command)) text = text.replace(from, to)
  for (const [before, pattern, from, to] of olderClients)
    if (version !== undefined && !isSince(version, before) && pattern.test(command)) text = text.replace(from, to)
  return `exit ${exit}\n${settled(text)}`
}

/** The recorder truncated long outputs in the middle of a line: only complete lines are compared then. */
function shortened({ stdout }: Exchange, wanted: string, got: string): [wanted: string, got: string] {
  if (stdout.length < recordedCharsMax) return [wanted, got]
  const lines = wanted.split('\n').slice(0, -1)
  return [lines.join('\n'), got.split('\n').slice(0, lines.length).join('\n')]
}

const recordedCharsMax = 6_000

for (const kubectl of kubectls())
  test(`the transcript with kubectl ${kubectl.version}`, async (context) => {
    await using up = await startUp('--nodes', '0')
    const seen = new Map<string, number>()
    const different: string[] = []
    const compared = (recorded: Exchange, ours: Exchange) => {
      const [wanted, got] = shortened(recorded, printed(recorded, kubectl.version), printed(ours, undefined))
      return { wanted, got, isSame: wanted === got || recorded.command in otherwise }
    }
    const isAsRecorded = (recorded: Exchange, ours: Exchange) => compared(recorded, ours).isSame
    const { kubeconfig, folder } = up
    for await (const { recorded, ours } of replay(
      { kubectl, kubeconfig, folder, isAsRecorded },
      await readTranscript(),
    )) {
      const count = (seen.get(recorded.command) ?? 0) + 1
      seen.set(recorded.command, count)
      const { wanted, got, isSame } = compared(recorded, ours)
      if (isSame) continue
      const name = count === 1 ? recorded.command : `${recorded.command} #${count}`
      different.push(name)
      context.diagnostic(`${name}\n--- upstream\n${wanted}\n+++ ours\n${got}`)
    }
    const listed = Object.values(missing).flat().toSorted()
    deepEqual(different.toSorted(), listed, 'what differs is what is listed as missing')
  })
