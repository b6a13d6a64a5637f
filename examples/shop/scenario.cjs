// @ts-check
// What the shop must do, once for all three test runners: three services in one process, without a socket. Time is
// virtual.
const assert = require('node:assert/strict')
const { readFile } = require('node:fs/promises')
const { join } = require('node:path')
const { deployment, pod, startCluster } = require('coxswain')
const { images } = require('./programs.cjs')

/** A test with a cluster in which the shop is ready. @param {(cluster: import('coxswain').TestCluster) => Promise<void>} run */
const withShop = (run) => async () => {
  const cluster = await startCluster({ nodes: 3, simulation: { images } })
  try {
    await startShop(cluster)
    await run(cluster)
  } finally {
    await cluster.stop()
  }
}

/** @param {import('coxswain').TestCluster} cluster */
async function startShop(cluster) {
  await cluster.apply(await readFile(join(__dirname, 'shop.yaml'), 'utf8'))
  await cluster.until(async () => {
    const { items } = await cluster.client.of(pod).list()
    const isReady = (/** @type {import('coxswain').Pod} */ { status }) =>
      status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True')
    return items.length === 5 && items.every(isReady)
  })
}

/** @param {import('coxswain').TestCluster} cluster @param {string} order */
const put = (cluster, order) => cluster.network.fetch('http://frontend/orders/1', { method: 'PUT', body: order })

/** @param {import('coxswain').TestCluster} cluster */
const get = async (cluster) => (await cluster.network.fetch('http://frontend/orders/1')).text()

/** @type {Record<string, () => Promise<void>>} */
const scenario = {
  'an order is stored and shown, also to clients outside the cluster': withShop(async (cluster) => {
    assert.equal((await put(cluster, 'two apples')).status, 200)
    assert.equal(await get(cluster), 'order: two apples')
    const response = await cluster.network.fetch('http://192.0.2.2:30080/orders/1', { from: 'outside' })
    assert.equal(await response.text(), 'order: two apples')
    assert.match(response.headers.get('x-served-by') ?? '', /^frontend-/)
  }),

  'an update of the orders service loses no request': withShop(async (cluster) => {
    await put(cluster, 'two apples')
    await cluster.client.of(deployment).patch('orders', {
      spec: { template: { metadata: { annotations: { version: '2' } } } },
    })
    for (let second = 0; second < 30; second++) {
      assert.equal(await get(cluster), 'order: two apples')
      await cluster.clock.advance('1s')
    }
    const { status } = await cluster.client.of(deployment).get('orders')
    assert.deepEqual([status.updatedReplicas, status.readyReplicas, status.replicas], [2, 2, 2])
  }),

  'the shop apologizes while the database is cut off, and recovers': withShop(async (cluster) => {
    await put(cluster, 'two apples')
    const partition = cluster.faults.partition([['service/orders'], ['service/database']])
    assert.equal(await get(cluster), 'sorry: the database does not respond')
    partition.remove()
    assert.equal(await get(cluster), 'order: two apples')
  }),

  'a slow database is noticed, and a slower one is too slow': withShop(async (cluster) => {
    await put(cluster, 'two apples')
    const startMs = cluster.clock.nowMs()
    const slow = cluster.faults.slowLink({ to: 'service/database', ms: 400 })
    assert.equal(await get(cluster), 'order: two apples')
    assert.equal(cluster.clock.nowMs() - startMs, 800) // the handshake and the request
    slow.remove()
    cluster.faults.slowLink({ to: 'service/database', ms: 1_500 })
    assert.equal(await get(cluster), 'sorry: the database does not respond')
  }),
}

module.exports = { scenario }
