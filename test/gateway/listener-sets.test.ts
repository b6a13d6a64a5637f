// ListenerSets: each test has the name of a conformance test of the Gateway API, and checks the behaviour that it is about.
import { deepEqual, equal } from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { Condition } from '../../src/api/meta/v1/condition.ts'
import { gateway, listenerSet, type Listener } from '../../src/gateway/kinds/gateway-kinds.ts'
import { until } from '../until.ts'
import { startStage, to, type Stage } from './gateway.harness.ts'

let stage: Stage
before(async () => {
  stage = await startStage()
})
after(() => stage[Symbol.asyncDispose]())

const allowing = (from: 'All' | 'Same') => ({ allowedListeners: { namespaces: { from } } })
const addSet = (name: string, parent: string, listeners: readonly Listener[], home = 'default') =>
  stage.client
    .of(listenerSet)
    .create({ metadata: { name }, spec: { parentRef: { name: parent, namespace: 'default' }, listeners } }, home)

/** `Accepted Programmed` as reasons, once the ListenerSet has been evaluated. */
async function reasonsOf(name: string, home = 'default'): Promise<string> {
  let conditions: readonly Condition[] = []
  await until(async () => {
    conditions = (await stage.client.of(listenerSet).get(name, home)).status?.conditions ?? []
    return conditions.length > 0 && conditions.every(({ observedGeneration }) => observedGeneration === 1)
  })
  return ['Accepted', 'Programmed'].map((type) => conditions.find((each) => each.type === type)?.reason).join(' ')
}

suite('ListenerSet', () => {
  test('ListenerSetDefaultNotAllowed', async () => {
    await stage.addGateway('none', [stage.http(1300)])
    await addSet('none', 'none', [stage.http(1301)])
    equal(await reasonsOf('none'), 'NotAllowed NotAllowed')
  })

  test('ListenerSetAllowedNamespaceSame', async () => {
    await stage.addGateway('same', [stage.http(1310)], allowing('Same'))
    await addSet('same', 'same', [stage.http(1311)])
    await addSet('foreign', 'same', [stage.http(1312)], 'other')
    equal(await reasonsOf('same'), 'Accepted Programmed')
    equal(await reasonsOf('foreign', 'other'), 'NotAllowed NotAllowed')
    await until(async () => (await stage.client.of(gateway).get('same')).status?.attachedListenerSets === 1)
    await stage.client.of(listenerSet).delete('same')
    await until(async () => (await stage.client.of(gateway).get('same')).status?.attachedListenerSets === undefined)
  })

  test('ListenerSetHTTPRouting, ListenerSetGatewayParentSectionNameNotFound', async () => {
    await stage.addGateway('routed', [stage.http(1320, { hostname: 'gateway.example.com' })], allowing('All'))
    await addSet('routed', 'routed', [{ ...stage.http(1320, { hostname: 'set.example.com' }), name: 'of-set' }])
    equal(await reasonsOf('routed'), 'Accepted Programmed')
    const ofSet = { kind: 'ListenerSet', name: 'routed' }
    await stage.addRoute('to-set', { parentRefs: [ofSet], rules: [{ backendRefs: [to('one')] }] })
    await stage.addRoute('to-gateway', { parentRefs: [{ name: 'routed' }], rules: [{ backendRefs: [to('two')] }] })
    await stage.addRoute('to-none', {
      parentRefs: [{ name: 'routed', sectionName: 'of-set' }],
      rules: [{ backendRefs: [to('two')] }],
    })
    for (const name of ['to-set', 'to-gateway']) await stage.routeCondition(name, 'Accepted', 'True')
    equal((await stage.routeCondition('to-none', 'Accepted', 'False'))?.reason, 'NoMatchingParent')
    const served = (host: string) => stage.served(1320, '/', { host, gateway: 'routed' })
    deepEqual([await served('set.example.com'), await served('gateway.example.com')], ['one', 'two'])
    await until(async () => {
      const { status } = await stage.client.of(listenerSet).get('routed')
      return status?.listeners?.[0]?.attachedRoutes === 1
    })
  })

  test('a port of a ListenerSet is opened, and closed with it', async () => {
    await stage.addGateway('ports', [stage.http(1330)], allowing('All'))
    await addSet('ports', 'ports', [stage.http(1331)])
    equal(await reasonsOf('ports'), 'Accepted Programmed')
    const ofSet = { kind: 'ListenerSet', name: 'ports' }
    await stage.addRoute('ports', { parentRefs: [ofSet], rules: [{ backendRefs: [to('one')] }] })
    await stage.routeCondition('ports', 'Accepted', 'True')
    equal(await stage.served(1331, '/', { gateway: 'ports' }), 'one')
    await stage.client.of(listenerSet).delete('ports')
    await until(async () => (await stage.served(1331, '/', { gateway: 'ports' }).catch(() => 'closed')) === 'closed')
  })

  test('ListenerSetHostnameConflict', async () => {
    await stage.addGateway('conflict', [stage.http(1340, { hostname: 'a.example.com' })], allowing('All'))
    await addSet('conflict', 'conflict', [stage.http(1340, { hostname: 'a.example.com' })])
    equal(await reasonsOf('conflict'), 'ListenersNotValid ListenersNotValid')
    const { status } = await stage.client.of(listenerSet).get('conflict')
    const reasons = status?.listeners?.[0]?.conditions.map(({ type, reason }) => `${type} ${reason}`)
    deepEqual(reasons?.slice(0, 3), [
      'Accepted HostnameConflict',
      'Conflicted HostnameConflict',
      'Programmed HostnameConflict',
    ])
  })
})
