import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { pollPatience } from '../process/patience.js'

/** The pages of a node in a real Chromium. */

const flags = ['--no-sandbox', '--disable-gpu', '--no-proxy-server']

/** Forbidden actions of a page. */
export interface Misdeeds {
  /** Errors of scripts, and what the content security policy refused. */
  readonly errors: string[]
  /** Requests to any other origin than that of the page. */
  readonly foreign: string[]
}

export interface View {
  readonly width?: number
  readonly height?: number
  readonly dark?: boolean
}

/** One Chromium for the tests of a file, by its name in PATH or in the variable CHROMIUM. */
export class ExplorerBrowser {
  readonly #browser: Browser

  private constructor(browser: Browser) {
    this.#browser = browser
  }

  static async start(): Promise<ExplorerBrowser> {
    const path = await executable(process.env['CHROMIUM'] ?? 'chromium')
    return new ExplorerBrowser(await chromium.launch({ executablePath: path, args: flags }))
  }

  /** Opens the pages of a node; `rest` is the base of its REST port. */
  async open(rest: string, { width = 1280, height = 900, dark = false }: View = {}): Promise<Explorer> {
    const context = await this.#browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      // Without it Chromium takes that of the environment, "en-US@posix" say, which Intl refuses.
      locale: 'en-US',
    })
    return Explorer.open(context, new URL(rest).origin)
  }

  close(): Promise<void> {
    return this.#browser.close()
  }
}

/** One tab. */
export class Explorer {
  readonly page: Page
  readonly misdeeds: Misdeeds = { errors: [], foreign: [] }
  readonly #context: BrowserContext
  readonly #origin: string

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context
    this.page = page
    this.#origin = origin
  }

  static async open(context: BrowserContext, origin: string): Promise<Explorer> {
    const page = await context.newPage()
    page.setDefaultTimeout(pollPatience)
    page.setDefaultNavigationTimeout(pollPatience)
    const explorer = new Explorer(context, page, origin)
    explorer.#watch()
    return explorer
  }

  /** Loads a page anew by the part of its address behind the origin, such as `/#/block/1`. */
  async load(path: string): Promise<void> {
    await this.page.goto('about:blank')
    await this.page.goto(`${this.#origin}${path}`)
  }

  /** The text that is seen, with any white space as one blank. */
  async text(selector = 'body'): Promise<string> {
    return (await this.page.locator(selector).first().innerText()).replace(/\s+/g, ' ')
  }

  /** Waits until a text is seen. */
  async shows(text: string | RegExp, selector = 'main'): Promise<void> {
    await this.page.locator(selector).getByText(text).first().waitFor()
  }

  close(): Promise<void> {
    return this.#context.close()
  }

  #watch(): void {
    const { errors, foreign } = this.misdeeds
    this.page.on('pageerror', (error) => errors.push(String(error)))
    this.page.on('dialog', (dialog) => {
      errors.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    this.page.on('console', (message) => {
      // A node that is gone is reported by the browser as well.
      const text = message.text()
      const expected = /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_SOCKET|WebSocket connection to/.test(text)
      if (message.type() === 'error' && !expected) errors.push(text)
    })
    const look = (url: string) => {
      const { origin, protocol } = new URL(url.replace(/^ws/, 'http'))
      if (origin !== this.#origin && protocol !== 'about:') foreign.push(url)
    }
    this.page.on('request', (request) => look(request.url()))
    this.page.on('websocket', (socket) => look(socket.url()))
  }
}

/** The file of a program in PATH. */
async function executable(name: string): Promise<string> {
  if (name.includes('/')) return name
  const { access } = await import('node:fs/promises')
  for (const folder of (process.env['PATH'] ?? '').split(':')) {
    const file = `${folder}/${name}`
    const found = await access(file).then(
      () => true,
      () => false,
    )
    if (found) return file
  }
  throw new Error(`${name} is not in PATH; install it, or name another one by CHROMIUM`)
}
