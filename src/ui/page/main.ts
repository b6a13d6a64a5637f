// The entry of the page: selects the source, logs in if the URL is a login link, and starts the application.
import { render } from 'lit'
import { realClock } from '../../base/time/clock.ts'
import { App } from './state/app.ts'
import { LiveSource } from './source/live.ts'
import { RecordedSource, type RecordedRun } from './source/recorded.ts'
import { isSignedOut, logIn } from './source/requests.ts'
import type { Source } from './source/source.ts'
import { followEnd } from './views/flows/flows-view.ts'
import { onPageKey } from './views/frame/page-keys.ts'
import { keepingEnd } from './views/keeping-end.ts'
import { pageView } from './views/page-view.ts'
import { signedOutView } from './views/signed-out-view.ts'

/** The run that a report contains; undefined on the page of a running cluster. */
function recordedRun(): RecordedRun | undefined {
  const element = document.getElementById('recorded-run')
  return element === null ? undefined : (JSON.parse(element.textContent) as RecordedRun)
}

async function start(root: HTMLElement): Promise<void> {
  if (location.pathname.endsWith('/ui/login')) {
    const rejection = await logIn(location.hash.slice(1)).catch((error: unknown) => error)
    if (isSignedOut(rejection)) {
      render(signedOutView('The link has been used already, or is older than a minute.'), root)
      return
    }
    if (rejection !== undefined) throw rejection
    history.replaceState(null, '', '/ui/')
  }
  const run = recordedRun()
  const source: Source = run === undefined ? new LiveSource(location.host) : new RecordedSource(run)
  const app = new App(location.hash, {
    source,
    nextFrame: (draw) => requestAnimationFrame(draw),
    draw: (current) => {
      keepingEnd(root, () => render(pageView(current), root))
      followEnd(current, root)
    },
    nowMs: () => realClock.monotonicMs(),
    timeMs: () => realClock.nowMs(),
    sleep: (ms, signal) => realClock.sleep(ms, signal),
    copy: (text) => navigator.clipboard.writeText(text),
    setFragment: (fragment, isNew) =>
      isNew ? history.pushState(null, '', fragment) : history.replaceState(null, '', fragment),
  })
  addEventListener('hashchange', () => app.open(location.hash))
  addEventListener('resize', () => app.changed())
  addEventListener('keydown', (key) => onPageKey(app, key))
  app.headline = run?.failure ?? ''
  app.changed()
  await app.start()
}

const root = document.getElementById('page')
if (root !== null)
  void start(root).catch((error: Error) => {
    root.textContent = `The page could not start: ${error.message}. Request a new link with: coxswain ui`
  })
