// @ts-check
// The shop as three programs. Each is a container image: a function that listens on ports and calls other services by the
// names of their Services, as the real program would.

/** Runs until the container is stopped. @param {AbortSignal} terminated @returns {Promise<number>} */
const untilTerminated = (terminated) =>
  new Promise((resolve) => terminated.addEventListener('abort', () => resolve(0), { once: true }))

/** Stores orders in memory. @type {import('coxswain').SimulatedProgram} */
async function database({ serveHttp, terminated }) {
  /** @type {Map<string, string>} */
  const stored = new Map()
  serveHttp(5432, async ({ method, path, text }) => {
    if (method === 'PUT') stored.set(path, await text())
    const order = stored.get(path)
    return order === undefined ? { status: 404 } : { status: 200, body: order }
  })
  return untilTerminated(terminated)
}

/** Reads and writes orders in the database. @type {import('coxswain').SimulatedProgram} */
async function orders({ serveHttp, fetch, environment, log, terminated }) {
  serveHttp(8080, async ({ method, path, text }) => {
    if (path === '/healthz') return { status: 200 }
    try {
      const url = `http://${environment['DATABASE']}${path}`
      const stored = await fetch(url, { method, timeoutMs: 2_000, ...(method === 'PUT' ? { body: await text() } : {}) })
      return { status: stored.status, body: await stored.text() }
    } catch (error) {
      log(`${method} ${path}: ${error instanceof Error ? error.message : error}`)
      return { status: 503, body: 'the database does not respond' }
    }
  })
  return untilTerminated(terminated)
}

/** Shows an order, or an apology. @type {import('coxswain').SimulatedProgram} */
async function frontend({ serveHttp, fetch, pod, terminated }) {
  serveHttp(8080, async ({ method, path, text }) => {
    const response = await fetch(`http://orders${path}`, {
      method,
      ...(method === 'PUT' ? { body: await text() } : {}),
    })
    const body = response.ok ? `order: ${await response.text()}` : `sorry: ${await response.text()}`
    return { status: response.status, headers: { 'x-served-by': pod.name }, body }
  })
  return untilTerminated(terminated)
}

module.exports = { images: { database, frontend, orders } }
