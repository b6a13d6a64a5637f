// The page of a browser without a session: what to do.
import { html, type TemplateResult } from 'lit'

export const signedOutView = (reason: string): TemplateResult =>
  html`<main class="signed-out">
    <p class="product">Coxswain</p>
    <h1>You are not logged in</h1>
    <p role="alert">${reason}</p>
    <p>Run this in a terminal, and open the link that it prints:</p>
    <pre><code>coxswain ui</code></pre>
    <p>
      A link works once, within a minute. A session ends after eight hours, or with the program that serves this page.
    </p>
  </main>`
