// Copies the diagram as Mermaid, SVG or PNG, and the link to this view.
import { html, type TemplateResult } from 'lit'
import { MermaidStatements, mermaidHead } from '../../../../flows/mermaid-diagram.ts'
import { svgDiagram, type Theme } from '../../../../flows/svg/svg-diagram.ts'
import type { App } from '../../state/app.ts'
import type { Diagram } from '../../state/diagram.ts'
import { failureView } from '../frame/failure-view.ts'

export function copyButtons(app: App, diagram: Diagram, title: string): TemplateResult {
  const copy = (what: string, text: () => string) => () =>
    void app.attempt('copy', async () => {
      await navigator.clipboard.writeText(text())
      app.notify(`The ${what} is in the clipboard.`)
    })
  return html`<span class="copy" role="group" aria-label="Copy">
    <button @click=${copy('Mermaid text', () => mermaidText(diagram))}>Mermaid</button>
    <button @click=${copy('SVG text', () => svgText(diagram, title))}>SVG</button>
    <button @click=${() => void app.attempt('copy', () => savePng(diagram, title))}>PNG</button>
    <button @click=${copy('link', () => location.href)}>Link</button>
    ${failureView(app, 'copy')}
  </span>`
}

export function mermaidText({ messages }: Diagram): string {
  const statements = new MermaidStatements()
  return `${[mermaidHead, ...messages.flatMap((message) => statements.draw(message))].join('\n')}\n`
}

const svgText = ({ drawn, lifelines: participants }: Diagram, title: string): string =>
  svgDiagram(drawn, { title, theme: pageTheme(), participants })

const pageTheme = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')

/** Draws the SVG on a canvas and saves it as a file. */
async function savePng(diagram: Diagram, title: string): Promise<void> {
  const text = svgText(diagram, title)
  const image = new Image()
  image.src = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  await image.decode()
  const canvas = document.createElement('canvas')
  ;[canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight]
  canvas.getContext('2d')?.drawImage(image, 0, 0)
  URL.revokeObjectURL(image.src)
  const link = document.createElement('a')
  link.href = canvas.toDataURL('image/png')
  link.download = `${title.replaceAll(/\W+/g, '-').toLowerCase()}.png`
  link.click()
}
