// @ts-check
// The operator: it watches websites and the Deployments that they own, and reconciles each website that has changed. A
// failed attempt is repeated after a pause.
const { context, deployment } = require('coxswain')
const { reconcile } = require('./reconcile.cjs')
const { website } = require('./website.cjs')

const retryMs = 1_000

/** @typedef {{ sleep(ms: number, signal: AbortSignal): Promise<void> }} Clock */

/**
 * Runs until the signal.
 * @param {import('./reconcile.cjs').Deps & { clock: Clock }} deps
 * @param {AbortSignal} signal
 */
async function runOperator(deps, signal) {
  const { client, clock } = deps
  const ctx = context(signal)
  const due = new DueKeys()
  /** @param {import('coxswain').ApiObject} object */
  const addOwner = ({ metadata: { namespace = '', ownerReferences = [] } }) => {
    const owner = ownerReferences.find(({ kind, controller }) => kind === website.kind && controller)
    if (owner !== undefined) due.add(namespace, owner.name)
  }
  const pause = () => clock.sleep(retryMs, signal).catch(() => {})
  const work = async () => {
    for await (const key of due.taken(signal))
      try {
        await reconcile(deps, key, ctx)
      } catch {
        if (signal.aborted) return
        void pause().then(() => due.add(key.namespace, key.name))
      }
  }
  await Promise.all([
    work(),
    follow(client.of(website), ({ metadata: { namespace = '', name } }) => due.add(namespace, name), pause, ctx),
    follow(client.of(deployment), addOwner, pause, ctx),
  ])
}

/** The keys of the websites to reconcile, each once. */
class DueKeys {
  /** @type {Map<string, { namespace: string, name: string }>} */
  #keys = new Map()
  #wake = () => {}

  /** @param {string} namespace @param {string} name */
  add(namespace, name) {
    this.#keys.set(`${namespace}/${name}`, { namespace, name })
    this.#wake()
  }

  /** @param {AbortSignal} signal */
  async *taken(signal) {
    signal.addEventListener('abort', () => this.#wake())
    while (!signal.aborted) {
      for (const [text, key] of this.#keys) {
        this.#keys.delete(text)
        yield key
      }
      if (this.#keys.size === 0 && !signal.aborted)
        await new Promise((resolve) => (this.#wake = () => resolve(undefined)))
    }
  }
}

/**
 * Calls back for every object and every change of one. A watch that ends is resumed; after an error everything is listed
 * again.
 * @param {import('coxswain').ResourceClient<any, any>} objects
 * @param {(object: import('coxswain').ApiObject) => void} onChange
 * @param {() => Promise<void>} pause
 * @param {import('coxswain').Context} ctx
 */
async function follow(objects, onChange, pause, ctx) {
  /** @type {string | undefined} */
  let resourceVersion
  while (!ctx.signal.aborted)
    try {
      if (resourceVersion === undefined) {
        const { items, revision } = await objects.list({}, ctx)
        items.forEach(onChange)
        resourceVersion = String(revision)
      }
      for await (const event of objects.watch({ resourceVersion }, ctx)) {
        resourceVersion = event.type === 'BOOKMARK' ? String(event.revision) : event.object.metadata.resourceVersion
        if (event.type !== 'BOOKMARK') onChange(event.object)
      }
    } catch {
      // An error of the server, or of the connection to it.
      if (ctx.signal.aborted) return
      resourceVersion = undefined
      await pause()
    }
}

module.exports = { runOperator }
