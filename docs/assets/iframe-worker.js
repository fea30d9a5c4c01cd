/* Browsers start no workers for pages that are opened as files. The search then runs in a hidden frame, behind a worker's interface. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.body.appendChild(document.createElement("iframe"))
      frame.hidden = true
      this.frame = frame
      this.listen = event => {
        if (event.source !== frame.contentWindow) return
        const message = new MessageEvent("message", { data: event.data })
        this.dispatchEvent(message)
        if (this.onmessage) this.onmessage(message)
      }
      addEventListener("message", this.listen)
      this.ready = new Promise(resolve => {
        const page = frame.contentDocument
        page.open()
        frame.contentWindow.started = resolve // after open(), which removes listeners
        page.write(`<body><script>
          postMessage = data => parent.dispatchEvent(new MessageEvent("message", { source: window, data }))
          importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((resolve, reject) => {
            const script = document.body.appendChild(document.createElement("script"))
            script.onload = resolve
            script.onerror = reject
            script.src = url
          })), Promise.resolve())
        <\/script><script src="${url}"><\/script><script>started()<\/script></body>`)
        page.close()
      })
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })))
    }

    terminate() {
      removeEventListener("message", this.listen)
      this.frame.remove()
    }
  }
}
