// coxswain why about real containers: the last lines of a log, an exit code, the limit of a container that the kernel killed,
// probes of a port on which nothing listens, an image that the registry does not have.
import { equal, match, ok } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { coxswain } from '../process.ts'
import { untilMatch } from '../until.ts'
import { inNamespaces } from './namespaces.ts'
import { startRealUp, type RealUp } from './up.harness.ts'

const sh = (script: string) => ['/bin/sh', '-c', script]

const deployment = (name: string, container: object, spec: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'c', ...container }], ...spec },
    },
  },
})

/** Answers of `coxswain why`. */
function asking({ kubeconfig }: RealUp) {
  const why = (...args: string[]): Promise<{ code: number; out: string }> =>
    new Promise((resolve) =>
      execFile(coxswain, ['why', ...args, '--kubeconfig', kubeconfig], (error, out, err) =>
        resolve({ code: error === null ? 0 : Number(error.code), out: `${out}${err}` }),
      ),
    )
  const untilWhy = (object: string, pattern: RegExp) => untilMatch(async () => (await why(object)).out, pattern)
  return { why, untilWhy }
}

inNamespaces(import.meta.url, () => {
  test('crash loop, out of memory, readiness probe and failed Job are explained with their evidence', async () => {
    await using up = await startRealUp()
    const { image } = up
    const { why, untilWhy } = asking(up)
    const probe = { httpGet: { path: '/', port: 9 }, periodSeconds: 1 }
    await up.apply(
      deployment('crash', {
        image,
        command: sh('echo starting; echo "password=hunter2"; echo fatal: no disk; exit 4'),
      }),
      deployment('greedy', {
        image,
        command: sh('x=a; while true; do x=$x$x; done'),
        resources: { limits: { memory: '16Mi' } },
      }),
      deployment('unready', { image, ports: [{ containerPort: 8080 }], readinessProbe: probe }),
      {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'work' },
        spec: {
          backoffLimit: 0,
          template: {
            spec: { restartPolicy: 'Never', containers: [{ name: 'c', image, command: sh('echo no input; exit 7') }] },
          },
        },
      },
    )

    const crash = await untilWhy('deployment/crash', /CrashLoopBackOff/)
    match(
      crash,
      /Container c \(\S+\) ends again and again \(CrashLoopBackOff\)\. It was restarted \d+ times?\. It last exited with code 4 \(Error\) at \S+Z\. The kubelet waits \S+ before it starts it again\.\n {2}Its last output, of kubectl logs crash-\S+ -c c -n default:\n {2}\| starting\n {2}\| password=\*\*\*\n {2}\| fatal: no disk\n/,
    )
    ok(!crash.includes('simulated'))
    match(
      await untilWhy('deployment/greedy', /OOMKilled/),
      /Container c \(\S+\) was killed because it used more memory than its limit of 16Mi \(OOMKilled, code 137\), last at \S+Z(?: and was restarted \d+ times?)?\.\n[^]*\nFix: kubectl set resources deployment\/greedy -c c --limits=memory=32Mi -n default\n$/,
    )
    match(
      await untilWhy('deployment/unready', /its readiness probe fails/),
      /its readiness probe fails: HTTP GET \/ on port 9 every 1 s: Get "http:\/\/\S+:9\/": dial tcp \S+:9: connect: connection refused \(\d+ times?, last at \S+Z\)\. Nothing listens on port 9; container c declares port 8080\./,
    )
    match(
      await untilWhy('job/work', /It has failed/),
      /Pod work-\S+: It has failed: Container c exited with code 7 \(Error\)\.\n {2}Its last output, of kubectl logs work-\S+ -c c -n default:\n {2}\| no input\n/,
    )

    const all = await why('--exit-code')
    equal(all.code, 1)
    match(all.out, /^4 problems in the cluster, the most severe first\.\n\ndeployment\/crash in default: error\n/)
    await up.k(['delete', 'deployment,job', '--all', '--timeout=200s'])
    equal((await why('--exit-code', '-n', 'default')).out.split('.')[0], 'No problem found in the namespace default')
  })

  test('a bad image and a liveness probe are explained once, with the command that fixes them', async () => {
    await using up = await startRealUp()
    const { image } = up
    const { why, untilWhy } = asking(up)
    const absent = image.replace('busybox:1', 'busibox:1')
    await up.apply(
      deployment('absent', { image: absent }),
      deployment('unlive', {
        image,
        ports: [{ containerPort: 8080 }],
        livenessProbe: { tcpSocket: { port: 9 }, periodSeconds: 1, failureThreshold: 1 },
      }),
    )

    const absentImage = await untilWhy('deployment/absent', /ImagePullBackOff/)
    match(
      absentImage,
      new RegExp(
        `Pod absent-\\S+: Container c cannot start, because its image ${absent} cannot be pulled \\(ImagePullBackOff\\): the registry does not have it\\.`,
      ),
    )
    equal(absentImage.split(absent).length, 2, absentImage)
    match(absentImage, /\nFix: kubectl set image deployment\/absent c=NEW_IMAGE -n default\n$/)

    const unlive = await untilWhy('deployment/unlive', /because its liveness probe fails/)
    match(
      unlive,
      /Container c is restarted again and again \(\d+ times?, last at \S+Z\), because its liveness probe fails: a TCP connection to port 9 every 1 s: dial tcp \S+:9: connect: connection refused \(\d+ times?, last at \S+Z\)\. Nothing listens on port 9; container c declares port 8080\./,
    )
    match(
      unlive,
      /\nFix: kubectl patch deployment\/unlive --type=json -p '.*\/livenessProbe\/tcpSocket\/port","value":8080}]' -n default\n$/,
    )
    for (const answer of [absentImage, unlive]) ok(!answer.includes('simulated'))
    equal((await why('--exit-code')).code, 1)
  })
})
