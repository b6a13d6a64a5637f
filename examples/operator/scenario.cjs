// @ts-check
// What the operator must do, once for all three test runners: a whole cluster, and what may go wrong.
const { configMap, namespace, startCluster } = require('coxswain')
const { runOperator } = require('./operator.cjs')

async function startWithOperator() {
  const cluster = await startCluster({ nodes: 0 })
  const ending = new AbortController()
  const running = runOperator(cluster.client, ending.signal)
  const homes = cluster.client.of(namespace)
  return {
    cluster,
    /** @param {string} name @param {string} team */
    makeTeam: (name, team) => homes.create({ metadata: { name, labels: { team } } }),
    /** @param {string} name @param {string} team */
    hasMap: (name, team) =>
      cluster.until(async () => (await cluster.client.of(configMap).find('team', name))?.data?.['team'] === team),
    async stop() {
      ending.abort()
      await running
      await cluster.stop()
    },
  }
}

/** The steps; each throws when the operator fails. */
const scenario = {
  async 'makes the ConfigMap of a new team'() {
    const { makeTeam, hasMap, stop } = await startWithOperator()
    await makeTeam('blue', 'water')
    await hasMap('blue', 'water')
    await stop()
  },
  async 'goes on when its watch breaks, however it breaks'() {
    const { cluster, makeTeam, hasMap, stop } = await startWithOperator()
    await makeTeam('first', 'a')
    await hasMap('first', 'a')
    cluster.faults.breakWatches('gone')
    await makeTeam('second', 'b')
    await hasMap('second', 'b')
    cluster.faults.breakWatches('reset')
    await makeTeam('third', 'c')
    await hasMap('third', 'c')
    await stop()
  },
  async 'tries again after a conflict with another client'() {
    const { cluster, makeTeam, hasMap, stop } = await startWithOperator()
    cluster.faults.reject({ verb: 'create', kind: configMap, sender: 'test' })
    await makeTeam('blue', 'water')
    await hasMap('blue', 'water')
    await stop()
  },
  async 'finds everything again after a restore'() {
    const { cluster, makeTeam, hasMap, stop } = await startWithOperator()
    const snapshot = cluster.snapshot()
    await makeTeam('late', 'x')
    await hasMap('late', 'x')
    await cluster.restore(snapshot)
    await makeTeam('again', 'y')
    await hasMap('again', 'y')
    await stop()
  },
}

module.exports = { scenario }
