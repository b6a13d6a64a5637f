// The web page and real containers: the log of a container grows, and a terminal runs a shell in it.
import { deepEqual, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { inNamespaces } from '../containers/namespaces.ts'
import { startRealUp } from '../containers/up.harness.ts'
import { accessibilityFindings, buildPage, openBrowser, openSession } from './chromium.ts'

const printing = 'trap "exit 0" TERM; i=0; while true; do i=$((i+1)); echo "line $i"; sleep 0.2; done'

/** Waits until the terminal shows a text. */
const shown = (page: Page, text: RegExp): Promise<void> =>
  page.locator('.xterm-rows', { hasText: text }).waitFor({ timeout: 20_000 })

inNamespaces(import.meta.url, () => {
  test('logs are followed; a terminal runs commands, follows the size of the page and reports the exit', async () => {
    await buildPage()
    await using up = await startRealUp()
    await using stack = new AsyncDisposableStack()
    const browser = stack.adopt(await openBrowser(), (each) => each.close())
    await up.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: {
        terminationGracePeriodSeconds: 1,
        // The browser aborts its requests when an interface is added.
        hostNetwork: true,
        containers: [
          { name: 'c', image: up.image, command: ['/bin/sh', '-c', printing] },
          { name: 'second', image: up.image },
        ],
      },
    })
    await up.k(['wait', 'pod/web', '--for=condition=Ready', '--timeout=200s'])
    const { page } = stack.use(await openSession(browser, await readFile(up.kubeconfig, 'utf8')))
    const open = (tab: string): Promise<unknown> =>
      page.evaluate((fragment) => (location.hash = fragment), `#objects?object=pods/default/web&tab=${tab}`)

    await open('Logs')
    await page.getByRole('button', { name: 'Follow c' }).click()
    const log = page.getByRole('log')
    await log.getByText(/line 1\n/).waitFor()
    const lines = (await log.innerText()).trim().split('\n').length
    // What is printed later follows.
    await log.getByText(`line ${lines + 10}\n`).waitFor()
    await page.waitForFunction(() => {
      const element = document.querySelector('.log') as Element
      return element.scrollTop + element.clientHeight >= element.scrollHeight - 40
    })

    await open('Terminal')
    await shown(page, /~ #/)
    deepEqual(await accessibilityFindings(page), [])
    await page.keyboard.type('echo $((6*7))-$(cat /etc/word)\n')
    await shown(page, /42-inside/)
    const columns = async (name: string): Promise<number> => {
      await page.keyboard.type(`echo ${name}=$(stty size)=\n`)
      const size = new RegExp(`${name}=\\d+ (\\d+)=`)
      await shown(page, size)
      return Number(size.exec(await page.locator('.xterm-rows').innerText())?.[1])
    }
    const wide = await columns('wide')
    const { width = 0 } = (await page.locator('.xterm-screen').boundingBox()) ?? {}
    await page.setViewportSize({ width: 800, height: 800 })
    await page.waitForFunction((px) => (document.querySelector('.xterm-screen')?.clientWidth ?? px) < px, width)
    const narrow = await columns('narrow')
    ok(narrow < wide, `${narrow} and ${wide} columns`)
    // Colors of 24 bits need style attributes, which the content security policy blocks.
    await page.keyboard.type('printf "\\033[38;2;1;2;3mcolored\\033[0m\\n"; printf "\\033[31mred\\033[0m\\n"\n')
    await shown(page, /colored.*red/s)
    await page.keyboard.type('exit 3\n')
    await shown(page, /The command ended with exit code 3\./)
    // Another container has another terminal.
    await page.getByRole('button', { name: 'second' }).click()
    await shown(page, /~ #/)
  })
})
