import { deepEqual } from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { nextSteps, type Environment } from './next-steps.ts'

let checkout = ''
const cluster = { kubeconfigPath: '/k', contextName: undefined, flag: '' }
const kubectlLine = '# kubectl is not on the PATH: https://kubernetes.io/docs/tasks/tools/'

before(async () => {
  checkout = await mkdtemp(join(tmpdir(), 'coxswain-checkout-'))
  for (const file of ['bin/coxswain', '.cache/kubectl/1.9.0/kubectl', '.cache/kubectl/1.36.4/kubectl']) {
    await mkdir(join(checkout, file, '..'), { recursive: true })
    await writeFile(join(checkout, file), '')
  }
})
after(() => rm(checkout, { recursive: true }))

const rows: [what: string, environment: () => Environment, lines: () => string[]][] = [
  [
    'in a checkout: the directories missing from the PATH, including the newest kubectl',
    () => ({ COXSWAIN_CHECKOUT: checkout, PATH: '/none' }),
    () => [`export PATH=${checkout}/bin:${checkout}/.cache/kubectl/1.36.4:$PATH`],
  ],
  [
    'in a checkout whose programs are on the PATH: kubectl alone',
    () => ({ COXSWAIN_CHECKOUT: checkout, PATH: `/none:${checkout}/bin` }),
    () => [`export PATH=${checkout}/.cache/kubectl/1.36.4:$PATH`],
  ],
  ['outside a checkout without kubectl: where to download it', () => ({ PATH: '/none' }), () => [kubectlLine]],
  ['outside a checkout with kubectl: nothing', () => ({ PATH: `${checkout}/.cache/kubectl/1.9.0` }), () => []],
]
for (const [what, environment, lines] of rows)
  test(`next steps: ${what}`, () =>
    deepEqual(nextSteps(cluster, environment()), [
      'export KUBECONFIG=/k',
      ...lines(),
      'kubectl create deployment web --image=nginx --replicas=3',
      'kubectl get pods',
      'coxswain flow deployment/web   # what happened, as a diagram',
      'coxswain why deployment/web    # what it waits for',
      'coxswain ui                    # the same in a web page, live',
      'coxswain top                   # the same in the terminal',
      'coxswain status                # how the cluster is',
    ]))

test('next steps of a cluster started with npx use npx, and name a data directory other than the default', () =>
  deepEqual(nextSteps({ ...cluster, flag: ' --data-dir /d' }, { npm_command: 'exec', PATH: '' }).slice(-5), [
    'npx coxswain flow deployment/web    # what happened, as a diagram',
    'npx coxswain why deployment/web     # what it waits for',
    'npx coxswain ui                     # the same in a web page, live',
    'npx coxswain top                    # the same in the terminal',
    'npx coxswain status --data-dir /d   # how the cluster is',
  ]))

test('next steps choose the context first when the kubeconfig has another current context', () =>
  deepEqual(nextSteps({ ...cluster, contextName: 'home' }, { PATH: '/none' }).slice(0, 3), [
    'export KUBECONFIG=/k',
    kubectlLine,
    'kubectl config use-context home',
  ]))
