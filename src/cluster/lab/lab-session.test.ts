import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { service } from '../../api/core/v1/service/service.ts'
import { startBroken } from './broken-cluster.ts'
import { runLab } from './lab-session.ts'
import { wrongSelector } from './situations/network.ts'

test('a session gives hints and the explanation, and checks the solution', async () => {
  await using cluster = await startBroken(wrongSelector)
  async function* typed() {
    yield* ['hint', 'hint', 'hint', 'nonsense', 'kubectl get pods', 'check', 'why', '']
    await cluster.client.of(service).patch('web', 'default', { spec: { selector: { app: 'web' } } }, 'merge')
    await cluster.clock.advance('2s')
    yield* [' check ', 'never read']
  }
  const printed: string[] = []
  equal(await runLab(wrongSelector, cluster, '/tmp/k', { out: (text) => printed.push(text), lines: typed() }), true)
  const [introduction = '', ...responses] = printed
  equal(
    introduction,
    'Connections to the Service web are refused.\n\nRepair it in another terminal, for example:\n  export KUBECONFIG=/tmp/k\n  kubectl get service web -n default\n\nType hint, why, check or quit.\n',
  )
  const kinds = responses.map((text) => text.split('\n')[0])
  equal(
    kinds.join(' | '),
    [
      ...wrongSelector.hints,
      'There is no further hint; type why.',
      'Type hint, why, check or quit.',
      'Type commands of kubectl in another terminal, with the KUBECONFIG above; here: hint, why, check or quit.',
      'It is not repaired yet. Changes may take some seconds.',
      'service/web',
      'Type hint, why, check or quit.',
      'Repaired.',
    ].join(' | '),
  )
})

test('a session ends with quit, and with its input', async () => {
  await using cluster = await startBroken(wrongSelector)
  for (const lines of [['quit', 'check'], ['exit', 'check'], []]) {
    const iterate = async function* () {
      yield* lines
    }
    equal(await runLab(wrongSelector, cluster, '/tmp/k', { out: () => {}, lines: iterate() }), false)
  }
})
