// A browser for tests of the web page: Debian's Chromium, driven by playwright. Requests to other origins fail the test.
import { deepEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { bundlePage } from '../../scripts/bundle-page.mjs'
import { loginCode } from './browser.ts'

export const pageFolder = fileURLToPath(new URL('../../dist/ui', import.meta.url))

let built: Promise<unknown> | undefined

/** The page from the current sources. */
export const buildPage = (): Promise<unknown> => (built ??= bundlePage(pageFolder))

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })

export interface OpenPage extends AsyncDisposable {
  readonly page: Page
}

/** A page that reports errors of scripts and of the content security policy when it is closed. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const browserContext = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  await browserContext.grantPermissions(['clipboard-read', 'clipboard-write']).catch(() => undefined)
  const page = await browserContext.newPage()
  page.setDefaultTimeout(10_000)
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      problems.push(message.text())
  })
  return {
    page,
    async [Symbol.asyncDispose]() {
      await browserContext.close()
      deepEqual(problems, [])
    },
  }
}

/** A page with a session of the kubeconfig's user, or of that of a token. */
export async function openSession(
  browser: Browser,
  kubeconfig: string,
  { token, ...options }: BrowserContextOptions & { readonly token?: string } = {},
): Promise<OpenPage> {
  const { origin, code } = await loginCode(kubeconfig, token)
  const opened = await openPage(browser, { ignoreHTTPSErrors: true, ...options })
  await opened.page.goto(`${origin}/ui/login#${code}`)
  await opened.page.getByRole('banner').waitFor()
  return opened
}

/** The findings of axe, by rule and element. */
export async function accessibilityFindings(page: Page): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in globalThis)))
    await page.evaluate(await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8'))
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    interface Violation {
      readonly id: string
      readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
    }
    const { violations } = await axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
    )
  })
}

/** The findings of axe in both themes at 1280 and at 390 pixels. */
export async function accessibilityFindingsEverywhere(page: Page): Promise<string[]> {
  const findings: string[] = []
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      findings.push(...(await accessibilityFindings(page)).map((each) => `${colorScheme} ${width}: ${each}`))
    }
  return findings
}
